/** Entry point of the thread that makes streamed lists: reads their pages and writes their rows, as far as they are requested. */
import { parentPort, workerData } from "node:worker_threads";
import { databaseFault, openBackgroundReader } from "../database/database.js";
import { followIndex } from "../discovery/discovery.js";
import { systemClock } from "../lib/clock.js";
import { createLog } from "../lib/log.js";
import { buildListReading } from "../modules.js";
import { listParts } from "./list-parts.js";
import type { StreamCommand, StreamMakerData, StreamMessage } from "./stream-maker.js";

const parent = parentPort;
if (parent === null) throw new Error("this file is the entry of a thread");
const { location, source, logLevel }: StreamMakerData = workerData;
const log = createLog(logLevel);
const database = openBackgroundReader({ ...source, log });
const { lists, listIndex } = buildListReading(
  database,
  { clock: systemClock, log },
  { remembersRows: false },
);
const leaveIndex = followIndex(listIndex, location);
const open = new Map<number, ReturnType<typeof listParts>>();

parent.on("message", (command: StreamCommand) => {
  switch (command.kind) {
    case "open":
      open.set(command.id, listParts(lists, command.list));
      break;
    case "next":
      void sendNext(command.id);
      break;
    case "close":
      void open.get(command.id)?.return(undefined);
      open.delete(command.id);
      break;
    case "stop":
      void stop();
  }
});

async function sendNext(id: number): Promise<void> {
  try {
    const part = (await open.get(id)?.next())?.value;
    const message: StreamMessage = { kind: "part", id, part };
    parent?.postMessage(message, part === undefined ? [] : [part.bytes.buffer]);
  } catch (error) {
    const message: StreamMessage = {
      kind: "failure",
      id,
      fault: databaseFault(error),
      message: error instanceof Error ? error.message : String(error),
    };
    parent?.postMessage(message);
  }
}

async function stop(): Promise<void> {
  leaveIndex();
  parent?.close();
  await database.close();
}
