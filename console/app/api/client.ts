/** The API's client, with types generated from its OpenAPI document. The browser adds the session's cookie by itself. */
import createClient from "openapi-fetch";
import { setConnected } from "./connection.ts";
import { ApiFailure } from "./failure.ts";
import type { components, paths } from "./schema.d.ts";

export const api = createClient<paths>({ baseUrl: "/v2" });

export type Schemas = components["schemas"];

interface Answer<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of a successful call. Throws `ApiFailure` otherwise. */
export async function answerOf<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answered(call);
  if (data === undefined) throw new ApiFailure(response.status, error, retryAfter(response));
  return data;
}

/** The answer, whatever its status. Throws `ApiFailure` if there is none. */
export async function answered<Given>(call: Promise<Given>): Promise<Given> {
  try {
    const given = await call;
    setConnected(true);
    return given;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    setConnected(false);
    throw new ApiFailure(0, null);
  }
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds > 0 ? seconds : null;
}
