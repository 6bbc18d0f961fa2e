/** A task that waits. */
interface Waiting {
  readonly caller: string;
  /** Turns that it takes from its caller; at least 1. */
  readonly units: number;
}

interface Line<Task> {
  /** Oldest first. */
  readonly tasks: Set<Task>;
  /** Turns that pass before its next task, as the last one cost more than one. */
  owed: number;
}

/**
 * Tasks that wait, in the order in which they are taken: their callers take turns, and a task of several units takes as many turns.
 * They are paid afterwards, so a caller that was idle is next whatever it wants. When no task waits, nobody owes any.
 */
export class Backlog<Task extends Waiting> {
  /** By caller, the next one first: all that have a task or owe turns. */
  readonly #lines = new Map<string, Line<Task>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Waiting tasks of a caller. */
  sizeOf(caller: string): number {
    return this.#lines.get(caller)?.tasks.size ?? 0;
  }

  /** Turns of a caller that pass before it has one for a task: for one that waits, or by default for a new one. */
  turnsBefore(caller: string, task?: Task): number {
    const { tasks = [], owed: turns = 0 } = this.#lines.get(caller) ?? {};
    let before = turns;
    for (const other of tasks) {
      if (other === task) break;
      before += other.units;
    }
    return before;
  }

  add(task: Task): void {
    const line = this.#lines.get(task.caller);
    if (line === undefined) this.#lines.set(task.caller, { tasks: new Set([task]), owed: 0 });
    else line.tasks.add(task);
    this.#size++;
  }

  /** Removes a task that waits. */
  delete(task: Task): void {
    const line = this.#lines.get(task.caller);
    if (line?.tasks.delete(task) !== true) return;
    this.#size--;
    if (this.#size === 0) this.#lines.clear();
    else if (line.tasks.size === 0 && line.owed === 0) this.#lines.delete(task.caller);
  }

  /** Removes and returns the oldest task of the next caller, which then goes to the end of the line; undefined if no task waits. */
  takeNext(): Task | undefined {
    if (this.#size === 0) return undefined;
    // Callers that go to the end come again, until one has a task and owes nothing.
    for (const [caller, line] of this.#lines) {
      this.#lines.delete(caller);
      const [task] = line.owed > 0 ? [] : line.tasks;
      if (task === undefined) line.owed--;
      else {
        line.tasks.delete(task);
        line.owed = task.units - 1;
        this.#size--;
      }
      if (this.#size === 0) this.#lines.clear();
      else if (line.tasks.size > 0 || line.owed > 0) this.#lines.set(caller, line);
      if (task !== undefined) return task;
    }
    return undefined;
  }

  /** The most tasks that one caller has, and the newest of them. Undefined where none has more than one. */
  findLongest(): { size: number; newest: Task } | undefined {
    let longest = new Set<Task>();
    for (const { tasks } of this.#lines.values()) if (tasks.size > longest.size) longest = tasks;
    const newest = [...longest].at(-1);
    return newest === undefined || longest.size === 1 ? undefined : { size: longest.size, newest };
  }
}
