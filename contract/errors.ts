/** The errors of the API: one shape, and the `data` of each status. `refusals.ts` lists the codes of refusals. */
import { type TSchema, Type } from "typebox";
import { operationKinds } from "./operationKinds.ts";

export const errorMessages = {
  400: "Bad request format",
  401: "No or invalid API key provided to the request",
  403: "This API key is not allowed to do that",
  404: "Could not find data or the user does not have permissions to retrieve it",
  405: "This path does not support that method",
  409: "The environment is blocked by another process. Please try again a bit later.",
  413: "The request body is larger than 1 MiB",
  415: "The request body must be sent as application/json",
  416: "The requested range starts beyond the end of the file",
  429: "Too many requests, please try again later.",
  500: "Error occurred while processing your request",
  503: "The database can't be reached at the moment. Nothing was changed; send the request again in a few seconds.",
} as const;

export type ErrorStatus = keyof typeof errorMessages;

const exampleReference = "0b0f3a52-6d2c-4b57-9a3a-7a5a4a0a2a53";

/** One invalid value of a request. */
export const fault = Type.Object(
  {
    path: Type.String({ description: "JSON pointer to the invalid value.", examples: ["/admin_email"] }),
    message: Type.String({ description: "The rule that the value breaks.", examples: ["must be an e-mail address"] }),
  },
  { title: "Fault", description: "An invalid value of a request." },
);

/** `data` of a malformed request. */
export const faults = Type.Object(
  { errors: Type.Array(fault, { description: "All faults of the request." }) },
  { title: "Faults", description: "The request is malformed." },
);

/** A kind of operation, in a response. */
export const operationKind = Type.Enum(Object.keys(operationKinds), {
  title: "OperationKind",
  description: "Kind of operation. Later versions may add kinds.",
});

/** The operations that hold an environment or wait for it. */
export function blockedBy(description: string) {
  return Type.Array(
    Type.Object(
      {
        operation_id: Type.String({
          description: "Id of the operation.",
          examples: ["backups:add-manual-54fb80af-576c-4fdc-ba4f-b596c83f15a1"],
        }),
        kind: operationKind,
      },
      { title: "BlockingOperation", description: "An operation that another one has to wait for." },
    ),
    { description },
  );
}

const noData = Type.Null({ description: "Always null." });

/** `data` of each status. Refusals have other ones, by code. */
const errorData: Readonly<Record<ErrorStatus, TSchema>> = {
  400: faults,
  401: noData,
  403: Type.Object({
    code: Type.Enum([
      "scope_missing",
      "address_not_allowed",
      "cross_site_request",
      "password_change_required",
      "second_factor_required",
    ]),
    needs: Type.Optional(
      Type.String({
        description:
          "With `scope_missing`: the missing scope (`write`, `live`, `site:<id>`) or role (`role:admin`), or `session` if only a person who has signed in can do it.",
        examples: ["write"],
      }),
    ),
    address: Type.Optional(
      Type.String({
        description: "With `address_not_allowed`: the address that the request came from.",
        examples: ["203.0.113.7"],
      }),
    ),
  }),
  404: noData,
  405: noData,
  409: Type.Object({
    code: Type.Literal("environment_busy"),
    blocked_by: blockedBy("The operations that the call would have to wait for, oldest first."),
  }),
  413: noData,
  415: noData,
  416: noData,
  429: noData,
  500: Type.Object({
    reference_id: Type.String({
      description: "Id of the log entry with the cause.",
      examples: [exampleReference],
    }),
  }),
  503: noData,
};

/** Every error as it is sent, with any `data`. */
export const ErrorBody = Type.Object({
  message: Type.String(),
  status: Type.Integer(),
  data: Type.Unsafe<unknown>({}),
});

/** The body of an error with that status, as documented. Default: the status's own `data`. */
export function errorSchema(status: ErrorStatus, options: { readonly title?: string; readonly data?: TSchema } = {}) {
  const { data = errorData[status], ...rest } = options;
  const message = Type.String({ description: "The error, as a text for people.", examples: [errorMessages[status]] });
  return Type.Object({ message, status: Type.Literal(status), data }, rest);
}

export const errorDescriptions: Readonly<Record<ErrorStatus, string>> = {
  400: "The request is malformed; `data.errors` lists every fault with a JSON pointer.",
  401: "The API key is missing, malformed, unknown, expired or revoked.",
  403: "The key belongs to the right company, but its scopes or its user's role do not allow this (`data.needs` names what is missing), or the key is not accepted from this address. With a session: its user has to choose a password first (`password_change_required`) or add a second factor (`second_factor_required`), or the request does not come from a page of this origin (`cross_site_request`).",
  404: "The resource does not exist, or belongs to another company.",
  405: "The path does not support this method; the `Allow` header lists the supported ones.",
  409: "Another operation holds the environment, and `When-Busy: refuse` was sent. `data.blocked_by` lists the operations that the call would have to wait for.",
  413: "The body is larger than 1 MiB.",
  415: "The body is not declared as `application/json`.",
  416: "The requested range starts beyond the end of the file; `Content-Range` has the file's length.",
  429: "The key or its company has reached its rate limit, the IP address has too many open requests, a hundred operations already wait for the environment, or too many invitations were mailed; `Retry-After` is the number of seconds to wait.",
  500: "An internal error. `data.reference_id` is the id of the log entry with the cause. A change may have been made if the database was lost at that moment; the message says so.",
  503: "The database can't be reached, for example because it is restarting, and did not come back within 15 seconds. Nothing was changed; `Retry-After` is the number of seconds to wait.",
};
