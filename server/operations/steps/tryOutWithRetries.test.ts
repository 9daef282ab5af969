import { expect, test } from "vitest";
import type { Trial, TrialOrder } from "../../clients/edgeClient.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { makeSeeCandidate } from "./seeCandidate.ts";
import { seeWithRetries } from "./tryOutWithRetries.ts";

const layout = { release: 2, documentRoot: "/x", overlays: {}, multisite: null, wordpressVersion: null };
const candidate = {
  environment: { id: "e", number: 1 },
  phpVersion: "8.4",
  layout,
  address: "https://demo.example",
  what: "The site",
  isReadOnly: true,
};
const { signal } = new AbortController();
const page: Trial = {
  status: 200,
  isWhole: true,
  errors: "",
  reason: null,
  location: null,
  content: { type: "text/html", base64: Buffer.from("Hello").toString("base64") },
};
const noResponse = (reason: string): Trial => ({ status: 0, isWhole: false, errors: "", reason, location: null });

/** An edge that gives these answers. Returns `see`, and the requests that the edge gets. */
function edgeThat(...answers: readonly (Trial | Error)[]) {
  const requests: TrialOrder[] = [];
  const left = [...answers];
  const tryOut = async (order: TrialOrder) => {
    requests.push(order);
    const answer = left.shift() ?? noResponse("crashed");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { requests, see: seeWithRetries(makeSeeCandidate({ tryOut })(candidate), 30) };
}

test("the browser gets the page that the edge would send", async () => {
  const { requests, see } = edgeThat(page);
  const seen = { status: 200, reason: null, location: null, type: "text/html", content: Buffer.from("Hello") };
  expect(await see("/shop/?a=b", signal)).toEqual(seen);
  const order = { host: "demo.example", url: "/shop/?a=b", isReadOnly: true, isHttps: true, wantsContent: true };
  expect(requests).toMatchObject([{ ...order, environment: { id: "e", release: 2 } }]);
});

test("transient errors are retried", async () => {
  const { requests, see } = edgeThat(new EdgeUnavailable("It starts"), noResponse("busy"), noResponse("busy"), page);
  expect((await see("/", signal)).status).toBe(200);
  expect(requests).toHaveLength(4);
});

test.each(["wouldWrite", "deadline", "crashed", "unavailable"])(
  "a missing response is not retried: %s",
  async (reason) => {
    const { requests, see } = edgeThat(noResponse(reason));
    expect(await see("/", signal)).toMatchObject({ status: 0, reason, content: Buffer.of() });
    expect(requests).toHaveLength(1);
  },
);

test("permanent errors are not retried", async () => {
  await expect(edgeThat(new Error("Not an order")).see("/", signal)).rejects.toThrow("Not an order");
});
