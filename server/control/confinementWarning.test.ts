import { expect, test, vi } from "vitest";
import { warnAboutConfinement } from "./confinementWarning.ts";

test("warns with the reason and what to do, only if there is a problem", () => {
  const warn = vi.fn();
  warnAboutConfinement(null, { warn });
  expect(warn).not.toHaveBeenCalled();
  warnAboutConfinement("unshare failed: Operation not permitted", { warn });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { reason: "unshare failed: Operation not permitted" },
    expect.stringContaining("CAP_SYS_ADMIN"),
  );
});
