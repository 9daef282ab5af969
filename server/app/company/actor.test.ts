import { describe, expect, it } from "vitest";
import type { Caller } from "./access.ts";
import { describeActor } from "./actor.ts";

const caller: Caller = {
  kind: "key",
  keyId: "key",
  keyName: "Deploy",
  expiresAt: null,
  allowedAddresses: null,
  scopes: null,
  companyId: "company",
  userId: "user",
  role: "developer",
  fullName: "Ada Lovelace",
  firstName: "Ada",
  labelledSites: [],
  userSites: null,
  isOperator: false,
  mustChangePassword: false,
  mustAddSecondFactor: false,
};

describe("an actor", () => {
  it("contains the user, the key, the IP address and the browser", () => {
    const safari =
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15";
    expect(describeActor(caller, "203.0.113.7", safari)).toEqual({
      userId: "user",
      userRole: "developer",
      userFullName: "Ada Lovelace",
      userFirstName: "Ada",
      apiKeyId: "key",
      apiKeyName: "Deploy",
      ipAddress: "203.0.113.7",
      browserName: "Safari",
      browserVersion: "17.4",
      osName: "macOS",
    });
  });

  it.each([undefined, "", "curl/8.5.0", "python-requests/2.31.0"])(
    "has a null browser if the user agent is unknown: %j",
    (userAgent) => {
      const { browserName, browserVersion, osName } = describeActor(caller, "::1", userAgent);
      expect({ browserName, browserVersion, osName }).toEqual({
        browserName: null,
        browserVersion: null,
        osName: null,
      });
    },
  );

  it.each([undefined, "", "\u0000", "x".repeat(100_000), "curl/8.5.0", "((((((((((((", "Mozilla/5.0 (".repeat(200)])(
    "accepts a malformed user agent: %#",
    (userAgent) => {
      expect(describeActor(caller, "::1", userAgent).ipAddress).toBe("::1");
    },
  );
});
