/** Reads the parts of a Dockerfile and of a .dockerignore file that this repository uses. */

/** One instruction; `flags` are those with two dashes. */
export interface Instruction {
  name: string;
  flags: Readonly<Record<string, string>>;
  text: string;
}

/** A stage: its base image, its name, and its instructions after FROM. */
export interface Stage {
  base: string;
  name: string | undefined;
  steps: Instruction[];
}

/** The stages of a Dockerfile. Throws if it begins with anything but FROM. */
export function readStages(text: string): Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n\s*/g, " ");
  const stages: Stage[] = [];
  for (const [, name = "", rest = ""] of lines.matchAll(/^([A-Z]+) (.*)$/gm)) {
    if (name === "FROM") {
      const [base = "", , alias] = rest.split(" ");
      stages.push({ base, name: alias, steps: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined) throw new Error(`${name} comes before FROM`);
    const flags = /^(?:--\S+ +)*/.exec(rest)?.[0] ?? "";
    const entries = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = "", value = ""]) => [
      flag,
      value,
    ]);
    stage.steps.push({ name, flags: Object.fromEntries(entries), text: rest.slice(flags.length).trim() });
  }
  return stages;
}

/** The variables of an ENV instruction. */
export function readVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

/** The command of an instruction in JSON form, such as ENTRYPOINT and CMD. */
export function readCommand(steps: readonly Instruction[], name: string): string[] {
  const text = steps.findLast((step) => step.name === name)?.text.replace(/^CMD /, "");
  return text === undefined ? [] : JSON.parse(text);
}

/** Whether a .dockerignore file leaves a path out of the build: the last line that matches it, or a folder above it, decides. */
export function isIgnored(path: string, ignoreFile: string): boolean {
  const parts = path.split("/");
  const above = parts.map((_, i) => parts.slice(0, i + 1).join("/"));
  const rules = ignoreFile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const rule = rules.findLast((line) => {
    const pattern = line.replace(/^!/, "").split("*").map(RegExp.escape).join("[^/]*");
    return above.some((one) => new RegExp(`^${pattern}$`).test(one));
  });
  return rule !== undefined && !rule.startsWith("!");
}
