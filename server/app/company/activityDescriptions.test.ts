import { activityTypes, languages } from "@sitewright/contract/company/activity.ts";
import { describe, expect, it } from "vitest";
import { describeActivity } from "./activityDescriptions.ts";

const parameters = {
  siteName: "Café $1 {keyName} <b>",
  keyName: "Deploy",
  labelName: "Client A",
  environmentName: "Staging",
  sourceName: "Trial",
  phpVersion: "8.4",
  runtime: "native",
  backupName: "Before the sale",
  email: "grace@example.com",
  command: "plugin list",
  threadCount: "3",
  threadMemory: "128",
  delivery: "keep",
  domainName: "shop.example.com",
  recordName: "www.shop.example.com",
  recordType: "CNAME",
  forceHttps: "ENABLED_FOR_ALL",
  url: "/news/",
  status: "off",
  zoneSerial: "1795190400",
  packageName: "akismet",
  packageVersion: "5.7",
  packageNames: "akismet 5.7, shop 2.0",
  environmentCount: "300",
  fileName: "cafe-live.zip",
  count: "17",
  userName: "ada",
  passkeyName: "Phone",
  provider: "Example Login",
};

/** The parameters that a description of this type must contain. */
function namesFor(type: string): string[] {
  const { siteName, keyName, environmentName, sourceName, phpVersion, backupName, email, command } = parameters;
  const { threadCount, threadMemory, delivery, domainName, forceHttps } = parameters;
  if (type === "useApiKey") return [keyName, parameters.count];
  if (type.endsWith("ApiKey")) return [keyName];
  if (type.endsWith("Label")) return [parameters.labelName];
  if (["logInToWp", "useWpLoginLink"].includes(type)) {
    return [siteName, environmentName, parameters.userName, parameters.count];
  }
  if (type === "signIn") return [parameters.count];
  if (/(User|Invitation)$/.test(type) && !type.startsWith("createWp")) return [email];
  if (type === "resetSecondFactor") return [email];
  if (/(Session|Sessions|Password|SecondFactor|AuthenticatorApp|RecoveryCodes?)$/.test(type)) return [];
  if (type.endsWith("ProviderAccount")) return [email, parameters.provider];
  if (type.endsWith("Passkey")) return [parameters.passkeyName];
  if (type === "exportActivity") return [parameters.count];
  if (type === "downloadBackup") return [parameters.fileName, parameters.count];
  if (type.endsWith("Site")) return [siteName];
  if (type === "changeSitePhpAllocation") return [siteName, threadCount, threadMemory];
  if (type.endsWith("PhpAllocation")) return [siteName, environmentName, threadCount, threadMemory];
  if (type.endsWith("Push") || type.startsWith("push")) return [siteName, environmentName, sourceName];
  if (type.startsWith("createWp")) return [siteName, environmentName, email];
  if (type === "runWpCli") return [siteName, environmentName, command];
  if (["removeBackup", "restoreBackup", "compareRestore", "proveBackup"].includes(type))
    return [siteName, environmentName, backupName];
  if (type === "clearEdgeCache") return [siteName, environmentName, parameters.url];
  if (type === "updateEdgeCacheStatus") return [siteName, environmentName, parameters.status];
  if (type === "setForceHttps") return [siteName, environmentName, forceHttps];
  if (type === "verifyDomain" || type === "releaseDomain") return [siteName, domainName];
  if (type.endsWith("DnsRecord")) return [parameters.recordName, parameters.recordType];
  if (type === "restoreZoneVersion") return [domainName, parameters.zoneSerial];
  if (type === "importZoneFile") return [domainName];
  if (type.endsWith("Domain") || type.endsWith("Certificate")) return [siteName, environmentName, domainName];
  if (/^update(Plugin|Theme)s$/.test(type)) return [siteName, environmentName, parameters.packageNames];
  if (/^update(Plugin|Theme)$/.test(type)) {
    return [siteName, environmentName, parameters.packageName, parameters.packageVersion];
  }
  if (type === "updateWordPress") return [siteName, environmentName, parameters.packageVersion];
  if (type === "createRollout") return [parameters.packageName, parameters.environmentCount];
  if (type === "cancelRollout") return [parameters.packageName];
  if (type === "modifyMailDelivery") return [siteName, environmentName, delivery];
  if (type === "changeRuntime") return [siteName, environmentName, parameters.runtime, phpVersion];
  return type === "modifyPhpVersion" ? [siteName, environmentName, phpVersion] : [siteName, environmentName];
}

describe.each(activityTypes)("%s", (type) => {
  it.each(languages)("has a description in %s with all parameters", (language) => {
    const [sentence = ""] = describeActivity(type, parameters, language) ?? [];
    for (const name of namesFor(type)) expect(sentence).toContain(name);
    expect(sentence.replace(parameters.siteName, "")).not.toMatch(/[{}…]/);
  });

  it("differs between languages", () => {
    const sentences = languages.map((language) => describeActivity(type, parameters, language)?.[0]);
    expect(new Set(sentences).size).toBe(languages.length);
  });
});

describe("an entry", () => {
  it("of an unknown type has no description", () => {
    expect(describeActivity("launchRocket", parameters, "en")).toBeNull();
    expect(describeActivity("constructor", parameters, "en")).toBeNull();
  });

  it("without parameters has a readable description", () => {
    expect(describeActivity("addSite", {}, "en")).toEqual(["Add the site “…”"]);
  });
});
