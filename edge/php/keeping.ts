import type { UpstreamResponse } from "./upstream.ts";

/** A page that PHP is rendering, as it is passed on. */
export interface Keeping {
  begun(answer: Pick<UpstreamResponse, "status" | "headers" | "mayBeCached">): void;
  add(chunk: Buffer): void;
  /** All of it was there. */
  whole(): void;
  end(): void;
}
