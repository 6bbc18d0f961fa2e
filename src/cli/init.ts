/** `init`: asks for the settings that matter, and writes them to a file. */
import { on } from "node:events";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { type Readable, Writable } from "node:stream";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import { ConfigError, loadConfig } from "../config/config.js";
import { errorCode } from "../lib/errors.js";
import { isPrivateHost } from "../lib/host-names.js";
import { EXIT, type Host } from "./host.js";

const FILE = ".env";
/** The name under which an earlier file is kept; `.env.old.2` and so on if there is one already. */
const OLD_FILE = ".env.old";

interface Options {
  baseUrl?: string;
  trustedProxies?: string;
  githubTokenFile?: string;
  databaseUrlFile?: string;
  yes?: boolean;
  force?: boolean;
}

type Settings = Record<string, string>;

/** A question, and the settings that follow from an answer that is not empty. */
interface Question {
  text: string;
  hidden: boolean;
  /** The answer that the options give, if any. */
  given(options: Options): string | undefined;
  settings(answer: string): Settings;
}

const QUESTIONS: readonly Question[] = [
  {
    text: "Address at which people reach it [http://127.0.0.1:3000]: ",
    hidden: false,
    given: ({ baseUrl }) => baseUrl,
    settings: (baseUrl) => ({ SIDEREAL_BASE_URL: baseUrl, ...listeningAt(baseUrl) }),
  },
  {
    text: "GitHub token to track GitHub with; it needs no permissions [none: show a sample]: ",
    hidden: true,
    given: ({ githubTokenFile }) => textOf(githubTokenFile),
    settings: (token) => ({ SIDEREAL_PROVIDERS: "github", SIDEREAL_GITHUB_TOKENS: token }),
  },
  {
    text: "PostgreSQL address, such as postgres://user:password@host/name [none: an SQLite file in ./data]: ",
    hidden: true,
    given: ({ databaseUrlFile }) => textOf(databaseUrlFile),
    settings: (url) => ({ SIDEREAL_DATABASE_URL: url }),
  },
  {
    text: "Address from which a proxy in front reaches it, such as 127.0.0.1 for nginx on this machine [none]: ",
    hidden: false,
    given: ({ trustedProxies }) => trustedProxies,
    settings: (addresses) => ({ SIDEREAL_TRUSTED_PROXIES: addresses }),
  },
];

export function addInit(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("init")
    .description(`ask four questions and write the settings to ${FILE}, which the other commands read`)
    .option("--base-url <url>", "address at which people reach the service")
    .option("--trusted-proxies <addresses>", "addresses of proxies in front of the service")
    .option("--github-token-file <file>", "file with a GitHub token")
    .option("--database-url-file <file>", "file with the address of a PostgreSQL database")
    .option("--yes", "ask nothing: use the defaults for everything without an option")
    .option("--force", `replace ${FILE} if it is there; it is kept as ${OLD_FILE}`)
    .action(async (options: Options) => finish(await init(host, options)));
}

async function init(host: Host, options: Options): Promise<number> {
  const questions = new Questions(host.stdin, host.stderr);
  try {
    const replaces = await mayReplace(questions, options);
    if (replaces === undefined) {
      host.stderr.write(`${FILE} is there already; --force replaces it and keeps it as ${OLD_FILE}\n`);
      return EXIT.usage;
    }
    let settings: Settings = {};
    for (const question of QUESTIONS)
      settings = { ...settings, ...(await answer(questions, question, options)) };
    write(settings, replaces);
    host.stdout.write(`${FILE} is written; only you can read it. Now run: sidereal start\n`);
    return EXIT.ok;
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    host.stderr.write(`${reason}\n`);
    return EXIT.usage;
  } finally {
    questions.close();
  }
}

/** Whether there is a file to replace; undefined: it must not be replaced. */
async function mayReplace(questions: Questions, { yes, force }: Options): Promise<boolean | undefined> {
  try {
    readFileSync(FILE);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  if (force === true) return true;
  if (yes === true) return undefined;
  const answered = await questions.ask(`${FILE} is there already. Replace it? [y/N]: `);
  return /^y(?:es)?$/i.test(answered ?? "") ? true : undefined;
}

/** The settings that follow from the answer. Asks a person again until they can be used. Throws a ConfigError otherwise. */
async function answer(questions: Questions, question: Question, options: Options): Promise<Settings> {
  const given = question.given(options);
  if (given !== undefined || options.yes === true) return checked(question, given ?? "");
  for (;;) {
    const text = await questions.ask(question.text, { hidden: question.hidden });
    if (text === undefined) throw new ConfigError(["No answer; nothing was written."]);
    try {
      return checked(question, text);
    } catch (error) {
      if (!(error instanceof ConfigError) || !questions.isPerson) throw error;
      questions.say(`${error.problems.join("\n")}\n`);
    }
  }
}

function checked(question: Question, answered: string): Settings {
  const settings = answered === "" ? {} : question.settings(answered);
  loadConfig(settings);
  return settings;
}

/** Settings that many instances add by hand. */
const EXAMPLES = `
# SIDEREAL_PROVIDERS=github,codeberg
# SIDEREAL_OPERATORS=you@example.org
# SIDEREAL_SMTP_URL=smtps://user:password@mail.example.org
# SIDEREAL_MAIL_FROM=Sidereal <sidereal@example.org>
# SIDEREAL_METRICS_PORT=9464
`;

/** An address with a port is served directly, others by a proxy in front. */
function listeningAt(baseUrl: string): Settings {
  const url = URL.parse(baseUrl);
  if (url === null || url.protocol !== "http:" || url.port === "" || !isPrivateHost(url.hostname)) return {};
  const isHere = /^(?:localhost|127\..*|\[::1\])$/.test(url.hostname);
  return { SIDEREAL_PORT: url.port, ...(isHere ? {} : { SIDEREAL_HOST: "0.0.0.0" }) };
}

/** Writes the file completely or not at all. A file that has appeared since the question is not replaced. */
function write(settings: Settings, replaces: boolean): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${quoted(name, value)}\n`);
  const text = `# Settings of Sidereal. docs/CONFIGURATION.md lists all.\n${lines.join("")}${EXAMPLES}`;
  const partial = `${FILE}.${process.pid}.partial`;
  try {
    writeFileSync(partial, text, { flag: "wx", mode: 0o600, flush: true });
    if (replaces) {
      keepOld();
      renameSync(partial, FILE);
    } else linkSync(partial, FILE);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Copies the file for its owner alone. Never over an earlier copy, which may be the only one of settings written by hand. */
function keepOld(): void {
  let copy = OLD_FILE;
  for (let next = 2; existsSync(copy); next++) copy = `${OLD_FILE}.${next}`;
  copyFileSync(FILE, copy, constants.COPYFILE_EXCL);
  chmodSync(copy, 0o600);
}

/** A value as it must be written to be read back. Compose and systemd do not know backticks, so they come last. */
function quoted(name: string, value: string): string {
  const forms = /^[\w@%+=:,./~?&-]*$/.test(value)
    ? [value]
    : ["'", '"', "`"].map((mark) => mark + value + mark);
  const usable = forms.find((form) => parseEnv(`${name}=${form}\n`)[name] === value);
  if (usable === undefined) throw new ConfigError([`${name}: has all kinds of quotes, or a line break`]);
  return usable;
}

function textOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8").trim();
}

/** The message of an error that a person can fix. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof ConfigError) return error.problems.join("\n");
  return error instanceof Error && "code" in error && "syscall" in error ? error.message : undefined;
}

/** Asks for lines of text. At a terminal a person answers; otherwise each line of the input is an answer, and missing lines are empty. */
class Questions {
  /** Whether a person can answer again. */
  readonly isPerson: boolean;
  readonly #output: Writable;
  readonly #interface: Interface;
  /** Also has lines that came before their question. */
  readonly #lines: AsyncIterator<[line: string]>;
  #isHidden = false;
  #isEnded = false;

  constructor(input: Readable & { isTTY?: boolean }, output: Writable) {
    this.isPerson = input.isTTY === true;
    this.#output = output;
    // At a terminal, typed characters are shown by being written here.
    const shown = new Writable({
      write: (chunk, _, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    this.#interface = createInterface({ input, output: shown, terminal: this.isPerson });
    this.#lines = on(this.#interface, "line", { close: ["close"] }) as AsyncIterator<[line: string]>;
    this.#interface.once("close", () => {
      this.#isEnded = true;
    });
  }

  /** The answer without spaces around it; undefined if a person ends the input. `hidden`: typed characters are not shown. */
  async ask(question: string, { hidden = false } = {}): Promise<string | undefined> {
    if (this.#isEnded) this.#output.write(question);
    else {
      this.#interface.setPrompt(question);
      this.#interface.prompt();
    }
    this.#isHidden = hidden;
    const { value, done } = await this.#lines.next();
    this.#isHidden = false;
    const line: string | undefined = done ? undefined : value[0];
    if (hidden || !this.isPerson || line === undefined) this.#output.write("\n");
    return line?.trim() ?? (this.isPerson ? undefined : "");
  }

  say(text: string): void {
    this.#output.write(text);
  }

  close(): void {
    this.#interface.close();
  }
}
