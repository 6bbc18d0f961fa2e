/**
 * Remembers what a function returns for texts of at most `longest` characters. Once there are `most` of them it forgets all, which is
 * enough where few different ones are usual. Nothing is remembered of a call that throws.
 */
export function remembering<T>(
  compute: (text: string) => T,
  { most, longest }: { most: number; longest: number },
): (text: string) => T {
  const known = new Map<string, { value: T }>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found.value;
    const value = compute(text);
    if (text.length > longest) return value;
    if (known.size >= most) known.clear();
    known.set(text, { value });
    return value;
  };
}
