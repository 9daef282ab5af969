/** Declarations of the used part of WebAssembly: the compiler's browser types are not included. */
declare namespace WebAssembly {
  /** Passed on unchanged from the library to `instantiate`. */
  type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): readonly { readonly name: string }[];
    static exports(module: Module): readonly { readonly name: string }[];
    readonly [Symbol.toStringTag]: "WebAssembly.Module";
  }

  class Instance {
    private constructor();
    readonly exports: Readonly<Record<string, unknown>>;
    readonly [Symbol.toStringTag]: "WebAssembly.Instance";
  }

  /** A function to import that WebAssembly waits for if it returns a promise. */
  class Suspending {
    constructor(imported: (...parameters: never[]) => unknown);
  }

  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
