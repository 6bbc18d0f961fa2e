// Writes dashboard.html: up to 100 repositories, named as arguments, with their stars over 90 days.
import { writeFileSync } from "node:fs";
import { Sidereal } from "sidereal-client";

const sidereal = new Sidereal({ baseUrl: process.env.SERVICE ?? "http://127.0.0.1:3000" });

const names = process.argv.slice(2);
if (names.length === 0) {
  console.error("Name repositories: node dashboard.mjs owner/name owner/name");
  process.exit(2);
}
const repositories = await sidereal.get("/api/repos", { query: { fullName: names, window: "7d" } });
const series = await sidereal.get("/api/metrics", { query: { repo: names, window: "90d" } });
const pointsById = new Map(series.data.map(({ repositoryId, points }) => [repositoryId, points]));

const escaped = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const rows = repositories.data.map(({ id, fullName, url, stars, trend }) => {
  const counts = (pointsById.get(id) ?? []).map((point) => point.stars);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const line = counts.map(
    (count, i) => `${(i * 200) / counts.length},${40 - (40 * (count - least)) / (most - least || 1)}`,
  );
  return `<tr><td><a href="${escaped(url)}">${escaped(fullName)}</a><td>${stars}<td>${trend?.starsDelta ?? ""}
    <td><svg width="200" height="40"><polyline fill="none" stroke="teal" points="${line.join(" ")}"/></svg>`;
});
writeFileSync(
  "dashboard.html",
  `<!doctype html><meta charset="utf-8"><title>Dashboard</title><table>${rows.join("")}</table>`,
);
