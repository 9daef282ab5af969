import type { UpstreamResponse } from "./upstream.ts";

/** Records a page for the page cache while it is sent to the visitor. Always call `end`. */
export interface PageRecorder {
  start(answer: Pick<UpstreamResponse, "status" | "headers" | "isCacheable" | "tags">): void;
  add(chunk: Buffer): void;
  /** The page is complete. */
  complete(): void;
  end(): void;
}
