/** Tasks that wait, in the order in which they are taken: their callers take turns. */
export class Backlog<Task extends { readonly caller: string }> {
  /** The tasks of each caller, oldest first. The first caller is the next one. */
  readonly #callers = new Map<string, Set<Task>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Waiting tasks of a caller. */
  sizeOf(caller: string): number {
    return this.#callers.get(caller)?.size ?? 0;
  }

  /** Tasks that the caller of a waiting task has before it: the number of its turns that pass first. */
  turnsBefore(task: Task): number {
    let turns = 0;
    for (const other of this.#callers.get(task.caller) ?? []) {
      if (other === task) break;
      turns++;
    }
    return turns;
  }

  add(task: Task): void {
    const tasks = this.#callers.get(task.caller);
    if (tasks === undefined) this.#callers.set(task.caller, new Set([task]));
    else tasks.add(task);
    this.#size++;
  }

  /** Removes a task that waits. */
  delete(task: Task): void {
    const tasks = this.#callers.get(task.caller);
    if (tasks?.delete(task) !== true) return;
    if (tasks.size === 0) this.#callers.delete(task.caller);
    this.#size--;
  }

  /** Removes and returns the oldest task of the next caller, which then goes to the end of the line; undefined if no task waits. */
  takeNext(): Task | undefined {
    for (const [caller, tasks] of this.#callers)
      for (const task of tasks) {
        this.delete(task);
        if (this.#callers.delete(caller)) this.#callers.set(caller, tasks);
        return task;
      }
    return undefined;
  }

  /** The most tasks that one caller has, and the newest of them. Undefined where none has more than one. */
  findLongest(): { size: number; newest: Task } | undefined {
    if (this.#callers.size === this.#size) return undefined;
    let longest = new Set<Task>();
    for (const tasks of this.#callers.values()) if (tasks.size > longest.size) longest = tasks;
    const newest = [...longest].at(-1);
    return newest === undefined ? undefined : { size: longest.size, newest };
  }
}
