import type { Child, FC } from "hono/jsx";

export interface Fact {
  name: string;
  value: Child;
  /** A note on the value. */
  more?: string;
  /** Whether the value is words rather than a number. */
  isText?: boolean;
}

/** Key numbers, each below its name. */
export const Facts: FC<{ facts: readonly Fact[] }> = ({ facts }) => (
  <dl class="facts">
    {facts.map(({ name, value, more, isText = false }) => (
      <div>
        <dt>{name}</dt>
        <dd class={isText ? "words" : undefined}>
          {value}
          {more === undefined ? null : <small class="soft">{more}</small>}
        </dd>
      </div>
    ))}
  </dl>
);
