/** Serves the pages of a candidate, such as a staged release, to the browser that takes screenshots. */

import type { EdgeClient } from "../../clients/edgeClient.ts";
import type { LoadPage } from "../../screenshots/pageProxy.ts";
import { StepFailure } from "../engine/operation.ts";
import { type Candidate, servedAs } from "./trial.ts";

/** The returned function rejects with a transient `StepFailure` if PHP is busy. */
export type LoadCandidate = (candidate: Candidate) => LoadPage;

export function makeLoadCandidate(edge: Pick<EdgeClient, "runTrial">): LoadCandidate {
  return (candidate) => {
    const { host, protocol } = new URL(candidate.address);
    const { isReadOnly } = candidate;
    const order = { environment: servedAs(candidate), host, isReadOnly, isHttps: protocol === "https:" };
    return async (url, signal) => {
      const { content, ...trial } = await edge.runTrial({ ...order, url, wantsContent: true }, signal);
      const { status, location, reason } = trial;
      if (reason === "busy") throw new StepFailure("No PHP process was free for it.", { isTransient: true });
      const { type, base64 } = content ?? { type: "", base64: "" };
      return { status, location, reason, type, content: Buffer.from(base64, "base64") };
    };
  };
}
