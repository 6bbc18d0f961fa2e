import { type Command, InvalidArgumentError } from "commander";
import type { DemoSize } from "../demo/demo.js";
import type { Host } from "./host.js";

const whole = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
};

export function addDemo(program: Command, host: Host): void {
  program
    .command("demo")
    .description("serve a made-up catalogue from memory; the stored one is not touched")
    .option("--repositories <n>", "number of repositories", whole(1, 1_000_000), 2_000)
    .option("--days <n>", "days of history", whole(2, 1_000), 60)
    .option("--seed <n>", "the same seed gives the same catalogue", whole(0, 999_999_999), 1)
    .action(async (size: DemoSize) => {
      host.stderr.write(`Generating ${size.repositories} repositories with ${size.days} days of history…\n`);
      await host.serveDemo(size);
    });
}
