/** Entry of the process that floods: reads one FloodJob with its seconds from standard input, writes one FloodReport to standard output. */
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { Flood, type FloodJob } from "./flood.js";

/** Below that of the process that measures, which shares its core. */
const PRIORITY = 10;

setPriority(PRIORITY);
const { seconds, ...job }: FloodJob & { seconds: number } = JSON.parse(await text(process.stdin));
const flood = new Flood(job);
void flood.run();
await setTimeout(seconds * 1_000);
flood.stop();
process.stdout.write(JSON.stringify(flood.report), () => process.exit());
