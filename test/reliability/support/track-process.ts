/** Tracks a round in a process of its own: `track-process.js <Round as JSON>`. Prints the number of statements. */
import { track } from "./tracked-round.js";

process.stdout.write(`${await track(JSON.parse(process.argv[2] ?? ""))}\n`);
