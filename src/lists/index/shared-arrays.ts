/** Arrays in shared memory: serving threads read the same copy. */

export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

export function sharedShorts(length: number): Uint16Array {
  return new Uint16Array(new SharedArrayBuffer(length * 2));
}

export function sharedWords(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}

export function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * 8));
}

/** A growing list of whole numbers below 2^32. */
export class WordList {
  #words = new Uint32Array(1_024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#words.length) {
      const larger = new Uint32Array(Math.ceil(this.length * 1.5));
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[this.length++] = value;
  }

  /** A copy in shared memory. */
  share(): Uint32Array {
    const copy = sharedWords(this.length);
    copy.set(this.#words.subarray(0, this.length));
    return copy;
  }
}

/** First index from `from` to `to` (excluded) for which `isAfter` is true, where all later ones are too; `to` if none is. */
export function firstIndex(from: number, to: number, isAfter: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
