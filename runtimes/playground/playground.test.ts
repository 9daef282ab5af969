import { testRuntime } from "../conformance/conformance.ts";
import { openPlayground } from "./testing/world.ts";

testRuntime("playground", () => openPlayground());
