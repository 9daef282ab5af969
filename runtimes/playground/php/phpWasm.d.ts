/**
 * Declarations of the used parts of the PHP packages. Their own declarations import each other without file extensions,
 * which the compiler's Node resolution does not support.
 */
declare module "@php-wasm/universal" {
  export const SupportedPHPVersions: readonly string[];
  export const __private__dont__use: unique symbol;

  export interface FsNode {
    readonly mode: number;
  }

  export interface RootFs {
    readonly filesystems: Readonly<Record<string, object>>;
    readonly ErrnoError: new (errno: number) => Error;
    mount(type: object, options: { readonly root: string }, mountPoint: string): FsNode;
    unmount(mountPoint: string): void;
    hashRemoveNode(node: object): void;
    mkdirTree(path: string): void;
    analyzePath(path: string, dontResolveLastLink: boolean): { readonly exists: boolean };
  }

  export interface PhpRunOptions {
    readonly code?: string;
    readonly scriptPath?: string;
    readonly relativeUri?: string;
    readonly protocol?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array;
    readonly $_SERVER?: Readonly<Record<string, string>>;
  }

  export interface StreamedPhpResponse {
    readonly stdout: ReadableStream<Uint8Array>;
    readonly stderr: ReadableStream<Uint8Array>;
    readonly exitCode: Promise<number>;
    readonly headers: Promise<Readonly<Record<string, readonly string[]>>>;
    readonly httpStatusCode: Promise<number>;
    readonly stdoutText: Promise<string>;
    readonly stderrText: Promise<string>;
  }

  export class PHP {
    constructor(runtimeId: number);
    /** The Emscripten module. */
    protected [__private__dont__use]: object;
    setSapiName(name: string): Promise<void>;
    setSpawnHandler(handler: object): Promise<void>;
    writeFile(path: string, content: string | Uint8Array): void;
    readFileAsText(path: string): string;
    unlink(path: string): void;
    /** Removes a folder with its content. */
    rmdir(path: string, options: { readonly recursive: true }): void;
    isDir(path: string): boolean;
    mkdir(path: string): void;
    listFiles(path: string): readonly string[];
    isFile(path: string): boolean;
    chdir(path: string): void;
    mount(
      path: string,
      handler: (php: PHP, FS: RootFs, mountPoint: string) => () => void,
    ): Promise<() => Promise<void> | void>;
    /**
     * Registers a listener for messages that scripts send with `post_message_to_js`. A script gets the first text, or promise of
     * one, that a listener returns and that is not empty.
     */
    onMessage(listener: (message: string) => unknown): () => Promise<void>;
    runStream(request: PhpRunOptions): Promise<StreamedPhpResponse>;
    /** The first argument is `php`. */
    cli(
      argv: readonly string[],
      options: { readonly env: Readonly<Record<string, string>> },
    ): Promise<StreamedPhpResponse>;
  }

  export function setPhpIniEntries(php: PHP, entries: Readonly<Record<string, string | number>>): Promise<void>;
}

declare module "@php-wasm/node" {
  /** Instantiates PHP and passes the instance to `receive`. */
  export type InstantiateWasm = (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => void;

  /** Returns the runtime id for the constructor of `PHP`. */
  export function loadNodeRuntime(
    version: string,
    options: {
      readonly followSymlinks: boolean;
      readonly emscriptenOptions: {
        readonly processId: number;
        readonly thisProgram: string;
        readonly instantiateWasm: InstantiateWasm;
        /** Environment variables of PHP's process. */
        readonly ENV: Readonly<Record<string, string>>;
      };
    },
  ): Promise<number>;
}

declare module "@php-wasm/util" {
  export interface ProgramApi {
    /**
     * Data written before the listener was added comes first. The bytes are in PHP's memory and valid only during the
     * call.
     */
    on(event: "stdin", listener: (chunk: Uint8Array) => void): void;
    readonly childProcess: {
      readonly stdin: { readonly ended: boolean; on(event: "finish", listener: () => void): void };
    };
    notifySpawn(): void;
    stdout(data: string): void;
    stderr(data: string): void;
    exit(code: number): void;
  }
  /** A command is a text, or a list of words, or a program's name followed by its arguments. */
  export type SpawnHandler = (command: string | readonly string[], words: readonly string[], options: object) => object;
  export function createSpawnHandler(program: (command: string[], api: ProgramApi) => Promise<void>): SpawnHandler;
}
