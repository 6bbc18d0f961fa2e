import { BroadcastChannel } from "node:worker_threads";

const CHANNEL = "sidereal revoked";

/** Announces that a key, a session or an account was revoked, so that caches are cleared in all threads of this process. */
export class Revocations {
  readonly #listeners: (() => void)[] = [];
  #channel: BroadcastChannel | undefined;

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  announce(): void {
    this.#notify();
    this.#channel?.postMessage(null);
  }

  /** Exchanges announcements with all threads that have joined. Returns a function that leaves them. */
  joinThreads(): () => void {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => this.#notify();
    this.#channel = channel;
    return () => {
      this.#channel = undefined;
      channel.close();
    };
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
