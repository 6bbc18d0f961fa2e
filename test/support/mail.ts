import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before } from "node:test";
import { SMTPServer } from "smtp-server";

/** A mail server of our own, on this machine. */
export interface Mailbox {
  /** The settings that make a service hand its mail over here. */
  readonly settings: Record<string, string>;
  /** The next mail, as soon as it is there. */
  next(): Promise<ReceivedMail>;
  /** The next mail about an event of an account. `next` skips these. */
  nextNotice(): Promise<ReceivedMail>;
  /** Mails about events that were received and not taken yet. */
  readonly notices: number;
  /** Mails that were received and not taken yet. */
  readonly waiting: number;
}

export interface ReceivedMail {
  to: string[];
  /** Header and body as they came, with line breaks of the encoding taken out. */
  text: string;
  /** The address in it that signs in. */
  link: URL;
  /** The code in it that signs in, as it is typed. */
  code: string;
}

/** A mail server that runs as long as the tests of the suite it is called in. */
export function openMailbox(): Mailbox {
  const [mails, notices] = [new Pile(), new Pile()];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    authOptional: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString();
        const text = raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");
        const address = /^https?:\/\/\S+\/sign-in\/link\?\S+$/m.exec(text)?.[0];
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const code = /^ {4}(\d{4} \d{4})\r?$/m.exec(text)?.[1] ?? "";
        const mail = { to, text, link: new URL(address ?? "http://no-link.invalid"), code };
        (/^Subject: Security notice/m.test(text) ? notices : mails).put(mail);
        done();
      });
    },
  });
  server.on("error", () => {});
  let port = 0;
  before(async () => {
    const listening = server.listen(0, "127.0.0.1");
    await once(listening, "listening");
    const address = listening.address();
    assert.ok(typeof address === "object" && address !== null);
    port = address.port;
  });
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    get settings() {
      return {
        SIDEREAL_SMTP_URL: `smtp://127.0.0.1:${port}`,
        SIDEREAL_MAIL_FROM: "Sidereal <sidereal@example.org>",
      };
    },
    next: () => mails.take(),
    nextNotice: () => notices.take(),
    get notices() {
      return notices.size;
    },
    get waiting() {
      return mails.size;
    },
  };
}

/** Mails in the order in which they were received. */
class Pile {
  readonly #mails: ReceivedMail[] = [];
  readonly #takers: ((mail: ReceivedMail) => void)[] = [];

  get size(): number {
    return this.#mails.length;
  }

  put(mail: ReceivedMail): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#mails.push(mail);
    else taker(mail);
  }

  take(): Promise<ReceivedMail> {
    const mail = this.#mails.shift();
    return mail === undefined ? new Promise((resolve) => this.#takers.push(resolve)) : Promise.resolve(mail);
  }
}

/** The token of a mailed link. */
export function tokenOf({ link }: ReceivedMail): string {
  return link.searchParams.get("token") ?? "";
}
