// Posts the repositories that gained most stars in a day to a chat, or prints them. Run it once a day.
import { Sidereal } from "sidereal-client";

const sidereal = new Sidereal({ baseUrl: process.env.SERVICE ?? "http://127.0.0.1:3000" });

const query = { sort: "stars-gained", window: "24h", reliableOnly: true, limit: 5 };
const { data, meta } = await sidereal.get("/api/repos", { query });
const lines = data.map(({ fullName, url, trend }) => `${fullName} +${trend.starsCounted} ${url}`);
const text = [`Most stars in the day to ${meta.asOf}:`, ...lines].join("\n");

if (process.env.WEBHOOK === undefined) console.log(text);
else
  await fetch(process.env.WEBHOOK, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text }),
  });
