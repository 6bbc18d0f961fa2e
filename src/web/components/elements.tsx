import type { ComponentChildren as Child, FunctionComponent as FC, JSX } from "preact";
import type { RenderContext } from "../page-request.js";

/** Elements that many pages have, with the classes that the style sheet knows. */

type LinkProps = JSX.AnchorHTMLAttributes & {
  href: string;
  /** Whether it is an entry of a menu, or does something: without an address it goes. */
  isControl?: boolean;
};

/** A link to a page. Of one to a page that a site leaves out, the text stays. */
export const Link: FC<LinkProps> = (
  { isControl = false, children, ...attributes },
  context: RenderContext,
) => {
  if (leadsTo(attributes.href, context)) return <a {...attributes}>{children}</a>;
  return isControl ? null : <span class={attributes.class}>{children}</span>;
};

export function leadsTo(href: string, { isPublished }: RenderContext): boolean {
  return isPublished === undefined || !href.startsWith("/") || isPublished(href);
}

/** Links in a row, such as those to other formats; nothing without any. */
export const Ways: FC<{ lead?: string; links: readonly (readonly [name: string, href: string])[] }> = (
  { lead, links },
  context: RenderContext,
) => {
  const shown = links.filter(([, href]) => leadsTo(href, context));
  return shown.length === 0 ? null : (
    <p class="soft small ways">
      {lead}
      {shown.map(([name, href], i) => (
        <>
          {i === 0 ? "" : " · "}
          <a href={href}>{name}</a>
        </>
      ))}
    </p>
  );
};

/** Wide content that scrolls horizontally on narrow screens, by keyboard too. */
export const Scroll: FC<{ label: string; children: Child }> = ({ label, children }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    {children}
  </section>
);

/** A table of contents, closed if it would be above the text; next to it, it scrolls by keyboard too. */
export const Contents: FC<{ children: Child }> = ({ children }) => (
  <nav class="contents" tabindex={0} aria-label="Contents">
    <details>
      <summary>Contents</summary>
      {children}
    </details>
  </nav>
);

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
          {more ? <small class="soft">{more}</small> : null}
        </dd>
      </div>
    ))}
  </dl>
);

/** A note set apart from the content; `action`: a form after it. */
export const Note: FC<{ children: Child; action?: Child }> = ({ children, action }) => (
  <div class={action === undefined ? "note" : "note apart"} role="note">
    <p>{children}</p>
    {action}
  </div>
);

/** The outcome of the last action, which screen readers announce. `isDone`: it has succeeded; otherwise it needs attention. */
export const Notice: FC<{ isDone: boolean; children: Child }> = ({ isDone, children }) => (
  <div class={isDone ? "note done" : "note"} role="status">
    <p>{children}</p>
  </div>
);

/** A shell command. Long lines scroll, by keyboard too. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);

/** Text to copy. The button needs the script copy.js. */
export const Snippet: FC<{ id: string; label: string; text: string }> = ({ id, label, text }) => (
  <div class="snippet">
    <div class="apart">
      <span class="soft small" id={`${id}-label`}>
        {label}
      </span>
      <button type="button" class="plain scripted" data-copy={id} aria-describedby={`${id}-label`}>
        Copy
      </button>
    </div>
    <pre id={id}>
      <code>{text}</code>
    </pre>
  </div>
);

/** The button that sends its form. */
export const MainButton: FC<{ children: Child }> = ({ children }) => (
  <button type="submit" class="press">
    {children}
  </button>
);

/** A form of nothing but its button. */
export const ActionButton: FC<{ action: string; children: Child }> = ({ action, children }) => (
  <form method="post" action={action}>
    <button type="submit">{children}</button>
  </form>
);

interface ConfirmProps {
  /** The action of the button, such as "Remove", and its object. */
  verb: string;
  name: string;
  /** The path that the form is sent to. */
  action: string;
  /** The effect, in a sentence or two. */
  children: Child;
}

/** A button that first names its effect, for actions that cannot be undone. */
export const Confirm: FC<ConfirmProps> = ({ verb, name, action, children }) => (
  <details class="confirm">
    <summary aria-label={`${verb} ${name}`}>{verb}</summary>
    <form method="post" action={action}>
      <p>{children}</p>
      <button type="submit" class="danger">
        {verb} <bdi>{name}</bdi>
      </button>
    </form>
  </details>
);

interface FieldProps {
  /** Its name in the form, and its id unless another one is given. */
  name: string;
  id?: string;
  label: Child;
  /** Why the submitted value is invalid; undefined if it is not. */
  problem: string | undefined;
  value?: string | undefined;
  /** `password`: hidden while it is typed, and never filled in by us. */
  type?: "date" | "email" | "password";
  required?: boolean;
  maxlength?: number;
  autocomplete?: "email" | "one-time-code" | "off";
  /** The keyboard that phones show. */
  inputmode?: "numeric";
  placeholder?: string;
  /** Turns off spell checking and capitalisation, for identifiers. */
  isLiteral?: boolean;
  /** Whether it names repositories: the script field.js completes those that are tracked. */
  isRepository?: boolean;
}

/** A field of a form with its label above and its problem below, which screen readers announce with it. */
export const Field: FC<FieldProps> = ({
  name,
  id = name,
  label,
  problem,
  value = "",
  type,
  required = false,
  maxlength,
  autocomplete = "off",
  inputmode,
  placeholder,
  isLiteral = false,
  isRepository = false,
}) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type={type}
      name={name}
      required={required}
      maxlength={maxlength}
      autocomplete={autocomplete}
      inputmode={inputmode}
      autocapitalize={isLiteral ? "none" : undefined}
      spellcheck={isLiteral ? false : undefined}
      placeholder={placeholder}
      data-repositories={isRepository ? "" : undefined}
      value={value}
      aria-invalid={problem === undefined ? undefined : "true"}
      aria-describedby={problem === undefined ? undefined : `${id}-problem`}
    />
    {problem === undefined ? null : (
      <p class="wrong" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    )}
  </div>
);
