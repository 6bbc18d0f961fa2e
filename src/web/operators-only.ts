import { AppError } from "../errors.js";
import type {
  FormHandler,
  OperatorFormHandler,
  OperatorPageHandler,
  PageHandler,
  PageRequest,
  Redirect,
  Site,
} from "./page-request.js";

/** Where somebody at the machine types the code from its log. */
export const ENTER_PAGE = "/operator/enter";

/** The same as for an address that no page has. */
export function notFound(): AppError {
  return new AppError("NOT_FOUND", "This address does not exist.");
}

/** Calls a handler for operators. Somebody at the machine can become one; for everybody else the page does not exist. */
export function operatorsOnly(handler: OperatorPageHandler, site: Site): PageHandler {
  return (request) => {
    const { operator } = request;
    return operator === undefined ? elsewhere(request) : handler({ ...request, operator, site });
  };
}

/** The same for a form. */
export function operatorsOnlyForm(handler: OperatorFormHandler, site: Site): FormHandler {
  return (request, form) => {
    const { operator } = request;
    return operator === undefined ? elsewhere(request) : handler({ ...request, operator, site }, form);
  };
}

function elsewhere({ members, isOnThisMachine }: PageRequest): Redirect {
  if (members.operators.mayUseCode({ isOnThisMachine })) return { location: ENTER_PAGE, status: 303 };
  throw notFound();
}
