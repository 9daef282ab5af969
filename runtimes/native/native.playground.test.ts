import { testRuntime } from "../conformance/conformance.ts";
import { openNative } from "./testing/world.ts";

testRuntime("native", () => openNative());
