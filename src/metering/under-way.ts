/** How many requests of each caller are under way; holds only those who have some. */
export class UnderWay {
  readonly #counts = new Map<string, number>();

  /** Callers with something under way. */
  get callers(): number {
    return this.#counts.size;
  }

  /** Begins one, unless the caller has so many already. Undefined then; else what ends it, which is to be called once. */
  begin(name: string, most: number): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0;
    if (count >= most) return undefined;
    this.#counts.set(name, count + 1);
    return () => this.#end(name);
  }

  #end(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}
