import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import type { Facet, FilterName } from "../../discovery/discovery.js";
import type { Problem } from "../page-query.js";

/** Parameters with a field, whose id is the name of the parameter. */
type Field = FilterName | "q" | "order" | "limit";

interface FieldProps {
  url: URL;
  problems: readonly Problem[];
  name: Field;
  label: string;
}

/** The problem of a field; one of several values is reported by its index, such as `language[1]`. */
function problemOf({ problems, name }: FieldProps): Problem | undefined {
  return problems.find(({ parameter }) => parameter === name || parameter.startsWith(`${name}[`));
}

/** The attributes of a field, including those that point to its problem. */
function attributesOf(props: FieldProps) {
  const isWrong = problemOf(props) !== undefined;
  return {
    id: props.name,
    name: props.name,
    ...(isWrong ? { "aria-invalid": true, "aria-describedby": `${props.name}-wrong` } : {}),
  };
}

const Framed: FC<FieldProps & { children: Child }> = ({ children, ...props }) => {
  const problem = problemOf(props);
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      {children}
      {problem === undefined ? null : (
        <div class="wrong" id={`${props.name}-wrong`}>
          {problem.message}
        </div>
      )}
    </div>
  );
};

export const Pair: FC<{ legend: string; children: Child }> = ({ legend, children }) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="pair">{children}</div>
  </fieldset>
);

export const TextField: FC<FieldProps & { maxlength: number; isNumber?: boolean; list?: string }> = ({
  maxlength,
  isNumber = false,
  list,
  ...props
}) => (
  <Framed {...props}>
    <input
      {...attributesOf(props)}
      type="text"
      value={props.url.searchParams.get(props.name) ?? ""}
      maxlength={maxlength}
      inputmode={isNumber ? "numeric" : undefined}
      list={list}
      autocomplete="off"
      spellcheck={false}
    />
  </Framed>
);

/** A date field. Any other value, such as a time, gets a text field: a date field would hide it. */
export const DayField: FC<FieldProps> = (props) => {
  const value = props.url.searchParams.get(props.name) ?? "";
  const isDay = value === "" || (/^\d{4}-\d{2}-\d{2}$/.test(value) && problemOf(props) === undefined);
  return (
    <Framed {...props}>
      <input {...attributesOf(props)} type={isDay ? "date" : "text"} value={value} />
    </Framed>
  );
};

export const ChoiceField: FC<FieldProps & { choices: readonly (readonly [string, string])[] }> = ({
  choices,
  ...props
}) => {
  const given = props.url.searchParams.get(props.name) ?? "";
  const chosen = given.toLowerCase();
  // An unknown value becomes a choice, so that it is shown.
  const all = choices.some(([value]) => value === chosen) ? choices : [...choices, [given, given] as const];
  return (
    <Framed {...props}>
      <select {...attributesOf(props)}>
        {all.map(([value, text]) => (
          <option value={value} selected={value === chosen || value === given}>
            {text}
          </option>
        ))}
      </select>
    </Framed>
  );
};

export const CheckField: FC<FieldProps> = ({ url, name, label }) => (
  <label>
    <input
      type="checkbox"
      id={name}
      name={name}
      value="true"
      checked={url.searchParams.get(name) === "true"}
    />
    {label}
  </label>
);

/** A filter with several values: a checkbox for each value, and a field to add one. */
export const SeveralField: FC<FieldProps & { known: readonly Facet[] }> = ({ known, ...props }) => {
  const { name, url } = props;
  const chosen = url.searchParams.getAll(name);
  return (
    <Framed {...props}>
      {chosen.map((value) => (
        <label>
          <input type="checkbox" name={name} value={value} checked />
          {value}
        </label>
      ))}
      <input
        {...attributesOf(props)}
        type="text"
        maxlength={100}
        list={`${name}-names`}
        placeholder={chosen.length === 0 ? "Any" : "Add another"}
        autocomplete="off"
        spellcheck={false}
        data-suggest={name}
      />
      <datalist id={`${name}-names`}>
        {known.map((facet) => (
          <option value={facet.name} />
        ))}
      </datalist>
    </Framed>
  );
};
