/** Scripts that complete commands and options in shells. They start no program: the commands are written into them. */
import { Argument, type Command } from "commander";
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

/** One command: the words that lead to it, and what may follow. */
interface Node {
  words: readonly string[];
  commands: readonly { name: string; description: string }[];
  options: readonly {
    names: readonly string[];
    description: string;
    hasValue: boolean;
    /** The values that it may have; empty for any. */
    choices: readonly string[];
  }[];
  /** The values that its arguments may have; empty for any, such as files. */
  choices: readonly string[];
}

/** A text in single quotes of a shell of the Bourne family. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const keyOf = ({ words }: Node): string => quoted(words.map((word) => ` ${word}`).join(""));
const wordsOf = (node: Node): string[] => [...node.commands.map(({ name }) => name), ...node.choices];

/** The cases that follow the words of a line: which command it is. */
function pathCases(nodes: readonly Node[]): string {
  const paths = nodes.filter(({ words }) => words.length > 0).map(keyOf);
  return `case "$at $word" in ${paths.join("|")}) at="$at $word" ;; esac`;
}

/** The cases of options with a value, by command and option; `act` writes what to do for the values. */
function valueCases(nodes: readonly Node[], act: (choices: readonly string[]) => string): string {
  const lines = nodes.flatMap((node) =>
    node.options
      .filter(({ hasValue }) => hasValue)
      .map(({ names, choices }) => {
        const patterns = names.map((name) =>
          quoted(`${node.words.map((word) => ` ${word}`).join("")} ${name}`),
        );
        return `    ${patterns.join("|")}) ${act(choices)}; return ;;`;
      }),
  );
  return `  case "$at $previous" in\n${lines.join("\n")}\n  esac`;
}

/** A script for bash 3.2 and later. Where nothing is known, bash completes names of files. */
function bashScript(nodes: readonly Node[]): string {
  const cases = nodes.map((node) => {
    const options = node.options.flatMap(({ names }) => names);
    return `    ${keyOf(node)}) words=${quoted(wordsOf(node).join(" "))} options=${quoted(options.join(" "))} ;;`;
  });
  return `# Completes sidereal in bash.
_sidereal() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local at='' word words='' options=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${pathCases(nodes)}
  done
  COMPREPLY=()
${valueCases(nodes, (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$current"))`)}
  case "$at" in
${cases.join("\n")}
  esac
  case "$current" in -*) words="$options" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sidereal sidereal
`;
}

/** A script for zsh, to be put in a folder of its fpath or to be sourced. */
function zshScript(nodes: readonly Node[]): string {
  const entry = (name: string, description: string) =>
    quoted(`${name.replaceAll(":", "\\:")}:${description.replaceAll("\n", " ")}`);
  const cases = nodes.map((node) => {
    const words = [
      ...node.commands.map(({ name, description }) => entry(name, description)),
      ...node.choices.map((choice) => quoted(choice)),
    ];
    const options = node.options.flatMap(({ names, description }) =>
      names.map((name) => entry(name, description)),
    );
    return `    ${keyOf(node)}) entries=(${words.join(" ")}) flags=(${options.join(" ")}) ;;`;
  });
  return `#compdef sidereal
# Completes sidereal in zsh.
_sidereal() {
  local previous="$words[CURRENT-1]" at='' word
  local -a entries flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${pathCases(nodes)}
  done
${valueCases(nodes, (choices) => (choices.length === 0 ? "_files" : `compadd -- ${choices.map(quoted).join(" ")}`))}
  case "$at" in
${cases.join("\n")}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then _describe option flags
  elif (( $#entries )); then _describe command entries
  else _files
  fi
}
if [[ "$funcstack[1]" == _sidereal ]]; then _sidereal "$@"; else compdef _sidereal sidereal; fi
`;
}

function fishScript(nodes: readonly Node[]): string {
  const fish = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = nodes.flatMap((node) => {
    const when = `-n ${fish(`test "$(__sidereal_path)" = "${node.words.join(" ")}"`)}`;
    return [
      ...node.commands.map(
        ({ name, description }) => `complete -c sidereal -f ${when} -a ${name} -d ${fish(description)}`,
      ),
      ...node.choices.map((choice) => `complete -c sidereal -f ${when} -a ${fish(choice)}`),
      ...node.options.map(({ names, description, hasValue, choices }) => {
        const flags = names.map((name) =>
          name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        );
        const values = choices.length > 0 ? ` -x -a ${fish(choices.join(" "))}` : hasValue ? " -r" : "";
        return `complete -c sidereal ${when} ${flags.join(" ")}${values} -d ${fish(description)}`;
      }),
    ];
  });
  const paths = nodes.filter(({ words }) => words.length > 0).map(({ words }) => fish(words.join(" ")));
  return `# Completes sidereal in fish.
function __sidereal_path
  set -l at
  for word in (commandline -opc)[2..]
    contains -- (string join -- ' ' $at $word) ${paths.join(" ")}; and set -a at $word
  end
  string join -- ' ' $at
end
${lines.join("\n")}
`;
}
