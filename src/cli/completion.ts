import { Argument, type Command } from "commander";
import { bashScript, fishScript, type Node, zshScript } from "./completion-scripts.js";
import type { Host } from "./host.js";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function addCompletion(program: Command, host: Host): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "name of the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      host.stdout.write(SCRIPTS[shell](nodesOf(program)));
    });
}

/** A command and all below it, as plain data. */
function nodesOf(command: Command, words: readonly string[] = []): Node[] {
  const help = command.createHelp();
  const node: Node = {
    words,
    commands: command.commands.map((child) => ({ name: child.name(), description: child.description() })),
    options: help
      .visibleOptions(command)
      .map(({ long, short, description, required, optional, argChoices }) => ({
        names: [long, short].filter((name) => name !== undefined && name !== null),
        description,
        hasValue: required || optional,
        choices: argChoices ?? [],
      })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  return [node, ...command.commands.flatMap((child) => nodesOf(child, [...words, child.name()]))];
}
