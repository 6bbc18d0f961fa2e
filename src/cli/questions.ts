import { createInterface, type Interface } from "node:readline";
import { type Readable, Writable } from "node:stream";

/** Asks for lines of text. At a terminal a person answers; otherwise each line of the input is an answer, and missing ones are empty. */
export class Questions {
  /** Whether somebody can be asked again. */
  readonly isPerson: boolean;
  readonly #output: Writable;
  readonly #interface: Interface;
  /** Lines that came before they were asked for. */
  readonly #lines: string[] = [];
  #isHidden = false;
  #isEnded = false;
  #wake: () => void = () => {};

  constructor(input: Readable & { isTTY?: boolean }, output: Writable) {
    this.isPerson = input.isTTY === true;
    this.#output = output;
    // At a terminal, what is typed is shown by being written here.
    const shown = new Writable({
      write: (chunk, _, done) => {
        if (!this.#isHidden) output.write(chunk);
        done();
      },
    });
    this.#interface = createInterface({ input, output: shown, terminal: this.isPerson });
    this.#interface.on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    this.#interface.once("close", () => {
      this.#isEnded = true;
      this.#wake();
    });
  }

  /** The answer without spaces around it; undefined if a person ends the input. What is typed is not shown if it is hidden. */
  async ask(question: string, { hidden = false } = {}): Promise<string | undefined> {
    if (this.#isEnded) this.#output.write(question);
    else {
      this.#interface.setPrompt(question);
      this.#interface.prompt();
    }
    this.#isHidden = hidden;
    while (this.#lines.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#isHidden = false;
    const line = this.#lines.shift();
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
