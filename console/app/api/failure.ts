/** What a call of the API can fail with. */
import { texts } from "../texts.ts";

/** A fault of one field, as the API reports it. */
export interface FieldFault {
  /** A JSON pointer, such as `/admin_email`. */
  readonly path: string;
  readonly message: string;
}

/** The API's answer if it is no success. `status` 0: there was no answer. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string | null;
  /** What the API says besides the message. */
  readonly data: unknown;
  readonly faults: readonly FieldFault[];
  /** Seconds to wait before the next attempt, if the API named them. */
  readonly retryAfter: number | null;

  constructor(status: number, body: unknown, retryAfter: number | null = null) {
    super(textAt(body, "message") ?? (status === 0 ? texts.notAnswered : `HTTP ${status}`));
    this.name = "ApiFailure";
    this.status = status;
    const data = fieldOf(body, "data");
    this.data = data;
    this.code = textAt(data, "code");
    this.faults = faultsIn(data);
    this.retryAfter = retryAfter;
  }

  /** Whether the same call may succeed a little later without anybody doing anything. */
  get isTemporary(): boolean {
    return [0, 429, 502, 503, 504].includes(this.status);
  }
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

export function textAt(value: unknown, name: string): string | null {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : null;
}

function faultsIn(data: unknown): readonly FieldFault[] {
  const errors = fieldOf(data, "errors");
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    const [path, message] = [textAt(error, "path"), textAt(error, "message")];
    return path === null || message === null ? [] : [{ path, message }];
  });
}
