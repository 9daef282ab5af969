import { expect, test } from "vitest";
import type { Trial, TrialOrder } from "../../clients/edgeClient.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { makeLoadCandidate } from "./loadCandidate.ts";
import { loadWithRetries } from "./runTrialWithRetries.ts";

const layout = { release: 2, documentRoot: "/x", overlays: {}, multisite: null, wordpressVersion: null };
const candidate = {
  environment: { id: "e", number: 1 },
  php: { runtime: "playground", version: "8.4" },
  layout,
  address: "https://demo.example",
  what: "The site",
  isReadOnly: true,
};
const { signal } = new AbortController();
const page: Trial = {
  status: 200,
  isComplete: true,
  errors: "",
  reason: null,
  location: null,
  content: { type: "text/html", base64: Buffer.from("Hello").toString("base64") },
};
const noResponse = (reason: string): Trial => ({ status: 0, isComplete: false, errors: "", reason, location: null });

/** An edge that gives these answers. Returns `load`, and the requests that the edge gets. */
function edgeThat(...answers: readonly (Trial | Error)[]) {
  const requests: TrialOrder[] = [];
  const left = [...answers];
  const runTrial = async (order: TrialOrder) => {
    requests.push(order);
    const answer = left.shift() ?? noResponse("crashed");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { requests, load: loadWithRetries(makeLoadCandidate({ runTrial })(candidate), 30) };
}

test("the browser gets the page that the edge would send", async () => {
  const { requests, load } = edgeThat(page);
  const seen = { status: 200, reason: null, location: null, type: "text/html", content: Buffer.from("Hello") };
  expect(await load("/shop/?a=b", signal)).toEqual(seen);
  const order = { host: "demo.example", url: "/shop/?a=b", isReadOnly: true, isHttps: true, wantsContent: true };
  expect(requests).toMatchObject([{ ...order, environment: { id: "e", release: 2 } }]);
});

test("transient errors are retried", async () => {
  const { requests, load } = edgeThat(new EdgeUnavailable("It starts"), noResponse("busy"), noResponse("busy"), page);
  expect((await load("/", signal)).status).toBe(200);
  expect(requests).toHaveLength(4);
});

test.each(["wouldWrite", "deadline", "crashed", "unavailable"])(
  "a missing response is not retried: %s",
  async (reason) => {
    const { requests, load } = edgeThat(noResponse(reason));
    expect(await load("/", signal)).toMatchObject({ status: 0, reason, content: Buffer.of() });
    expect(requests).toHaveLength(1);
  },
);

test("permanent errors are not retried", async () => {
  await expect(edgeThat(new Error("Not an order")).load("/", signal)).rejects.toThrow("Not an order");
});
