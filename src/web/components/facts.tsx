import type { Child, FC } from "hono/jsx";

export interface Fact {
  name: string;
  value: Child;
  /** What the value is a part of, or means. */
  more?: string;
  /** Whether the value is words rather than a number. */
  isText?: boolean;
}

/** A few numbers that stand at the head of something, each under its name. */
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
