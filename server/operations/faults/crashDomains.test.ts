/** Domains, DNS and caches through every crash. A new operation is one line in `describeCrashes`. */
import { dnsSubjects } from "../../testing/dnsRecords.ts";
import { addingDomain, changingPrimaryDomain, deletingDomain } from "../../testing/domains.ts";
import { clearingCache, switchingCacheOff } from "../../testing/environments.ts";
import { describeCrashes } from "./testing/describeCrashes.ts";

describeCrashes({
  "adding a domain": addingDomain,
  "removing a domain": deletingDomain,
  "changing the primary domain": changingPrimaryDomain,
  ...dnsSubjects,
  "clearing a cache": clearingCache("clearCache", null),
  "clearing a part of a cache": clearingCache("clearEdgeCache", "/news/"),
  "switching a cache off": switchingCacheOff,
});
