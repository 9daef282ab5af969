<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use Throwable;
use WP_MySQL_Lexer;

/** The driver with the layer. */
class Driver extends \WP_MySQL_On_SQLite {
	/** Statements that define something, for which MySQL ends the transaction. */
	private const DEFINITIONS = [
		...[ WP_MySQL_Lexer::CREATE_SYMBOL, WP_MySQL_Lexer::ALTER_SYMBOL, WP_MySQL_Lexer::DROP_SYMBOL ],
		...[ WP_MySQL_Lexer::RENAME_SYMBOL, WP_MySQL_Lexer::TRUNCATE_SYMBOL, WP_MySQL_Lexer::OPTIMIZE_SYMBOL ],
		...[ WP_MySQL_Lexer::REPAIR_SYMBOL ],
	];
	private const WRITING = [
		...[ WP_MySQL_Lexer::INSERT_SYMBOL, WP_MySQL_Lexer::REPLACE_SYMBOL, WP_MySQL_Lexer::UPDATE_SYMBOL ],
		...[ WP_MySQL_Lexer::DELETE_SYMBOL ],
	];

	/** Statements after which another one may mean something else. */
	private const CHANGING_TRANSLATIONS = [ ...self::DEFINITIONS, WP_MySQL_Lexer::SET_SYMBOL, WP_MySQL_Lexer::USE_SYMBOL ];

	/** Statements that begin, end or change a transaction. */
	private const CONTROLLING = [
		...[ WP_MySQL_Lexer::START_SYMBOL, WP_MySQL_Lexer::BEGIN_SYMBOL, WP_MySQL_Lexer::COMMIT_SYMBOL ],
		...[ WP_MySQL_Lexer::ROLLBACK_SYMBOL, WP_MySQL_Lexer::SAVEPOINT_SYMBOL, WP_MySQL_Lexer::RELEASE_SYMBOL ],
		...[ WP_MySQL_Lexer::LOCK_SYMBOL, WP_MySQL_Lexer::UNLOCK_SYMBOL, WP_MySQL_Lexer::SET_SYMBOL ],
	];

	private const MOST_REPEATABLE = 100;
	/**
	 * Pages of 4 KB. When a transaction has changed more, SQLite writes into the database's file before the end, and nobody can
	 * read until then. Its own limit is 2 MB.
	 */
	private const MOST_CHANGED_PAGES = 16384;

	private Functions $functions;
	/** Not set while the driver itself is being set up. */
	private Rewriter $rewriter;
	private Statements $statements;
	private Transactions $transactions;
	private Columns $columns;
	private ?Column_Definitions $column_definitions = null;
	private ?Schema $schema = null;
	private ?Variables $variables = null;
	/** Error information of the last statement, as PDO's, or null. */
	private ?array $last_error = null;
	/** The same of the last statement that did not ask for it. */
	private ?array $diagnostics = null;
	private bool $is_diagnosed = false;
	/** The number that the last row to get one has, as a text. */
	private string $last_number = '0';
	/** How many rows the present statement gives numbers to; null until a query has given them. */
	private ?int $numbered_rows = 1;
	/** Whether the last statement added rows, if it was an INSERT. */
	private bool $has_added = false;
	/** How many rows the present INSERT has updated. */
	private int $updated_rows = 0;
	private int $statement_count = 0;
	private string $current_query = '';
	/** Texts of the session's prepared statements by name in lower case. @var array<string, string> */
	public array $prepared = [];
	/** Whether a statement is being answered. */
	private bool $is_busy = false;
	/** Null: every SELECT is translated. */
	private ?Translations $translations = null;
	/** The tree of the present statement, if it has been translated before. */
	private ?\WP_Parser_Node $known_tree = null;
	/** The parser of the present statement, if it has not. */
	private ?Parser $parser = null;
	/** Whether decimals are shown with all their digits, as texts. */
	private bool $shows_digits = true;
	/** What SQLite was asked last. */
	private string $last_sql = '';
	/** @var array<string, string> What SQLite got for queries of the layer's own, by the settings and the query. */
	private array $repeatable = [];

	public function __construct( string $dsn, ?string $username = null, ?string $password = null, ?array $options = null ) {
		$errors     = [ PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION ];
		$connection = new Connection( 'sqlite:' . self::path_in( $dsn ), null, null, $errors );
		$connection->exec( 'PRAGMA cache_spill = ' . self::MOST_CHANGED_PAGES );
		parent::__construct( $dsn, $username, $password, [ 'sqlite_pdo' => $connection ] + ( $options ?? [] ) );
		$this->columns            = new Columns( $this );
		$this->functions          = new Functions( $this );
		$this->rewriter           = new Rewriter( $this, $this->functions );
		$this->statements         = new Statements( $this );
		$this->transactions       = new Transactions( $this );
		$connection->transactions = $this->transactions;
	}

	private static function path_in( string $dsn ): string {
		preg_match( '/[:;]path=((?:[^;]|;;)*)/', $dsn, $match );
		return str_replace( ';;', ';', $match[1] );
	}

	public function schema(): Schema {
		return $this->schema ??= new Schema( $this );
	}

	public function variables(): Variables {
		return $this->variables ??= new Variables( $this );
	}

	/** Returns the last statement's error as PDO's error information, or null if it had none. */
	public function last_error(): ?array {
		return $this->last_error;
	}

	/** Like `last_error`, for statements that show it, and don't count themselves. */
	public function diagnostics(): ?array {
		$this->is_diagnosed = true;
		return $this->diagnostics;
	}

	/** Returns the statement that is being answered. */
	public function current_query(): string {
		return $this->current_query;
	}

	/** Returns the number that the last row of the session to get one has. */
	public function last_number(): string {
		return $this->last_number;
	}

	/**
	 * Call if the present statement adds several rows, and all get their numbers from AUTO_INCREMENT. Null: as many rows as a
	 * query gives.
	 */
	public function number_rows( ?int $rows ): void {
		$this->numbered_rows = $rows;
	}

	/** Call for each row that the present INSERT updates instead of adding one: MySQL counts it twice. */
	public function count_update(): void {
		++$this->updated_rows;
	}

	/** Returns the number that the last statement gave to a row, and of several rows to the first one. */
	#[\ReturnTypeWillChange]
	public function lastInsertId( $name = null ) {
		$last = parent::lastInsertId( $name );
		return $this->numbered_rows > 1 && '0' !== $last ? (string) ( (int) $last - $this->numbered_rows + 1 ) : $last;
	}

	/** Whether values that a column can't keep are errors. */
	public function is_strict(): bool {
		return $this->is_sql_mode_active( 'STRICT_TRANS_TABLES' ) || $this->is_sql_mode_active( 'STRICT_ALL_TABLES' );
	}

	/** Returns the number of statements that the session has sent. */
	public function statement_count(): int {
		return $this->statement_count;
	}

	public function transactions(): Transactions {
		return $this->transactions;
	}

	/** Uses translations of earlier sessions, and keeps those of this one for later ones. `$settings`: the session's, as a text. */
	public function keep_translations( string $file, string $settings ): void {
		$this->translations = new Translations( $this, $file, $settings );
	}

	/** Divides a statement into tokens, by the session's rules. */
	public function lexer( string $query ): WP_MySQL_Lexer {
		$modes = $this->is_sql_mode_active( 'NO_BACKSLASH_ESCAPES' ) ? [ 'NO_BACKSLASH_ESCAPES' ] : [];
		return new WP_MySQL_Lexer( $query, self::DEFAULT_MYSQL_VERSION, $modes );
	}

	public function create_parser( string $query ): \WP_MySQL_Parser {
		if ( null !== $this->known_tree ) {
			$known            = new Known_Parser( $this->known_tree );
			$this->known_tree = null;
			return $known;
		}
		$parser = parent::create_parser( $query );
		if ( ! isset( $this->rewriter ) ) {
			return $parser;
		}
		$created = new Parser( $parser, $query, $this->rewriter, $this );
		// A rule may need others.
		$this->parser ??= $created;
		return $created;
	}

	public function execute_sqlite_query( string $sql, array $params = [] ): \PDOStatement {
		$defines = isset( $this->transactions ) && ( 0 === strncmp( $sql, 'CREATE T', 8 ) || 0 === strncmp( $sql, 'INSERT INTO `_', 14 ) );
		$this->last_sql = $sql;
		return parent::execute_sqlite_query( $defines ? $this->column_definitions()->apply( $sql ) : $sql, $params );
	}

	/** Call with each statement before it is executed; null unless it begins with CREATE or ALTER. */
	public function begin_definition( ?\WP_Parser_Node $statement ): void {
		if ( null !== $statement || null !== $this->column_definitions ) {
			$this->column_definitions()->begin( $statement );
		}
	}

	/** Call before a statement creates columns that the driver takes for others with a default. @param array<string, string> $kinds */
	public function generate_columns( array $kinds ): void {
		$this->column_definitions()->generated = $kinds;
	}

	private function column_definitions(): Column_Definitions {
		return $this->column_definitions ??= new Column_Definitions( $this );
	}

	#[\ReturnTypeWillChange]
	public function query( string $query, ?int $fetch_mode = null, ...$fetch_mode_args ) {
		if ( ! isset( $this->transactions ) || $this->is_busy ) {
			return parent::query( $query, $fetch_mode, ...$fetch_mode_args );
		}
		$this->is_busy = true;
		// The driver forgets the number at the next statement, and repeats SQLite's if none was given. A session keeps it.
		$this->last_number   = ! $this->has_added || '0' === $this->lastInsertId() ? $this->last_number : $this->lastInsertId();
		$this->has_added     = false;
		$this->numbered_rows = 1;
		$this->updated_rows  = 0;
		++$this->statement_count;
		$this->current_query = $query;
		try {
			$result            = $this->in_transaction( $query );
			$this->has_added   = $result->rowCount() > 2 * $this->updated_rows;
			$this->last_error  = null;
			$this->diagnostics = $this->is_diagnosed ? $this->diagnostics : null;
		} catch ( Throwable $error ) {
			if ( Errors::is_read_only( $error ) && function_exists( 'do_action' ) ) {
				do_action( 'mysql_refused', $query );
			}
			$error            = Errors::translated( $this, $error, $query );
			$this->last_error  = $error->errorInfo;
			$this->diagnostics = $error->errorInfo;
			throw $error;
		} finally {
			$this->is_busy      = false;
			$this->is_diagnosed = false;
		}
		if ( function_exists( 'do_action' ) ) {
			// Also for statements that plugins send past `$wpdb`. Callbacks must not send any.
			do_action( 'mysql_statement', $query );
		}
		if ( null !== $fetch_mode ) {
			$result->setFetchMode( $fetch_mode, ...$fetch_mode_args );
		}
		return $result;
	}

	/** Answers a statement that another one contains. */
	public function answer( string $query ): PDOStatement {
		return $this->in_transaction( $query );
	}

	private function in_transaction( string $query ): PDOStatement {
		if ( ! $this->transactions->concerns_all() && $this->is_plain_select( $query ) ) {
			return null === $this->translations ? $this->driver_query( $query ) : $this->select( $query, $this->translations );
		}
		$lexer        = $this->lexer( $query );
		$first        = $lexer->next_token() ? $lexer->get_token()->id : -1;
		$is_temporary = $lexer->next_token() && WP_MySQL_Lexer::TEMPORARY_SYMBOL === $lexer->get_token()->id;
		if ( WP_MySQL_Lexer::EOF === $first ) {
			// Only a comment, as in dumps.
			return $this->nothing( $query );
		}
		$parts  = in_array( $first, self::WRITING, true ) && strlen( $query ) > Long_Insert::LONG ? Long_Insert::parts( $this->lexer( $query ), $query ) : [];
		$answer = count( $parts ) > 1
			? fn () => $this->insert( $parts, $query )
			: fn () => $this->statements->answer( $first, $query ) ?? $this->driver_query( $query );
		if ( in_array( $first, self::CHANGING_TRANSLATIONS, true ) ) {
			$this->translations?->forget();
		}
		$defines = in_array( $first, self::DEFINITIONS, true );
		if ( $defines ) {
			$answer = fn () => $this->define( $answer );
		}
		if ( $defines && ! $is_temporary ) {
			$this->transactions->commit_before_definition();
			return $this->without_foreign_keys( $answer );
		}
		if ( ! $this->transactions->concerns_all() || in_array( $first, self::CONTROLLING, true ) ) {
			return $answer();
		}
		$writes = in_array( $first, self::WRITING, true ) || $this->locks( $query );
		return $this->transactions->run( $answer, $writes );
	}

	/** Runs a statement that may change tables. It may read what is known about them before it changes them. */
	private function define( callable $answer ): PDOStatement {
		$this->forget_tables();
		try {
			return $answer();
		} finally {
			$this->forget_tables();
		}
	}

	private function forget_tables(): void {
		$this->schema()->forget();
		$this->columns->forget();
	}

	/** Whether it is a SELECT that the driver answers. Most statements are: dividing them into tokens twice would cost each page time. */
	private function is_plain_select( string $query ): bool {
		return 1 === preg_match( '/^\s*+SELECT\s/i', $query ) && ! str_contains( $query, '@' );
	}

	private function select( string $query, Translations $translations ): PDOStatement {
		$known = $translations->find( $query );
		if ( null === $known ) {
			$this->functions->called = [];
			$this->parser            = null;
			$result                  = $this->driver_query( $query );
			$translations->add( $query, $this->parser->tokens(), $this->last_sql, array_keys( $this->functions->called ) );
			return $result;
		}
		[ $sql, $functions ] = $known;
		array_map( [ $this->functions, 'register' ], $functions );
		$this->known_tree = Translations::tree( $sql );
		try {
			return parent::query( $query );
		} finally {
			$this->known_tree = null;
		}
	}

	/** Inserts rows by several statements, all or none. */
	private function insert( array $parts, string $query ): PDOStatement {
		$affected     = 0;
		$are_numbered = true;
		$this->transactions->atomically(
			function () use ( $parts, &$affected, &$are_numbered ) {
				foreach ( $parts as $part ) {
					$this->numbered_rows = 1;
					$this->updated_rows  = 0;
					$added               = $this->driver_query( $part )->rowCount();
					$affected           += $added;
					$are_numbered        = $are_numbered && $this->numbered_rows === $added;
				}
			}
		);
		$this->numbered_rows = $are_numbered ? $affected : 1;
		return $this->nothing( $query, $affected );
	}

	/** Whether it is a SELECT that locks what it reads: `FOR UPDATE`, `LOCK IN SHARE MODE`. */
	private function locks( string $query ): bool {
		$lexer = $this->lexer( $query );
		while ( $lexer->next_token() ) {
			$id = $lexer->get_token()->id;
			if ( WP_MySQL_Lexer::LOCK_SYMBOL === $id || WP_MySQL_Lexer::FOR_SYMBOL === $id ) {
				return true;
			}
		}
		return false;
	}

	/** SQLite checks foreign keys when a table is replaced by a changed one, and deletes what refers to it. */
	private function without_foreign_keys( callable $change ) {
		$pdo = $this->get_sqlite_pdo();
		if ( '0' === (string) $pdo->query( 'PRAGMA foreign_keys' )->fetchColumn() ) {
			return $change();
		}
		$pdo->exec( 'PRAGMA foreign_keys = OFF' );
		try {
			return $change();
		} finally {
			$pdo->exec( 'PRAGMA foreign_keys = ON' );
		}
	}

	public function inTransaction(): bool {
		if ( ! isset( $this->transactions ) ) {
			return parent::inTransaction();
		}
		$is_open = $this->is_busy ? $this->transactions->has_begun() : $this->transactions->is_open();
		return $is_open || parent::inTransaction();
	}

	#[\ReturnTypeWillChange]
	public function prepare( $query, $options = null ) {
		return new Prepared_Statement( $this, $query );
	}

	public function beginTransaction(): bool {
		if ( $this->transactions->is_open() ) {
			throw Errors::create( $this, 1105, 'There is already an active transaction' );
		}
		$this->query( 'START TRANSACTION' );
		return true;
	}

	public function commit(): bool {
		return $this->end( 'COMMIT' );
	}

	public function rollBack(): bool {
		return $this->end( 'ROLLBACK' );
	}

	private function end( string $statement ): bool {
		if ( ! $this->transactions->is_open() ) {
			throw Errors::create( $this, 1105, 'There is no active transaction' );
		}
		$this->query( $statement );
		return true;
	}

	/** Lets the driver answer a statement, with the layer's functions and rules. */
	public function driver_query( string $query ): PDOStatement {
		$result = parent::query( false === stripos( $query, 'rollup' ) ? $query : Rollup::spelled_out( $this, $query ) );
		if ( 1 === $this->numbered_rows && 0 === $this->updated_rows ) {
			return $result;
		}
		$added = $result->rowCount();
		$this->numbered_rows ??= $added;
		if ( $this->numbered_rows !== $added || 0 !== $this->updated_rows ) {
			// Rows that were not added have used up numbers between those of the others.
			$this->numbered_rows = 1;
		}
		return 0 === $this->updated_rows ? $result : $this->nothing( $query, $added + $this->updated_rows );
	}

	/** The same for a SELECT of the layer's own whose translation depends on the session's settings alone. Plugins may send SHOW very often. */
	public function repeatable_query( string $query ): PDOStatement {
		$key = implode( ' ', [ (int) $this->is_sql_mode_active( 'ANSI_QUOTES' ), (int) $this->is_sql_mode_active( 'NO_BACKSLASH_ESCAPES' ), $query ] );
		if ( ! isset( $this->repeatable[ $key ] ) ) {
			$result = $this->driver_query( $query );
			if ( count( $this->repeatable ) < self::MOST_REPEATABLE ) {
				$this->repeatable[ $key ] = $this->last_sql;
			}
			return $result;
		}
		return $this->wrap( $this->execute_sqlite_query( $this->repeatable[ $key ] ), $query );
	}

	/** The same for a SELECT whose results keep their types: decimals are numbers. */
	public function typed_query( string $query ): PDOStatement {
		$this->shows_digits = false;
		try {
			return $this->driver_query( $query );
		} finally {
			$this->shows_digits = true;
		}
	}

	/** Whether decimals are shown with all their digits, as texts. */
	public function shows_digits(): bool {
		return $this->shows_digits;
	}

	/** Returns the tree of a statement as it is written, or null if it is none. */
	public function parsed( string $query ): ?\WP_Parser_Node {
		$parser = parent::create_parser( $query );
		return $parser->next_query() ? $parser->get_query_ast() : null;
	}

	/** Returns the result of a statement that has none. */
	public function nothing( string $query, int $affected_rows = 0 ): PDOStatement {
		return $this->wrap( $this->get_sqlite_pdo()->prepare( "SELECT 1" ), $query, $affected_rows );
	}

	/** The columns of all tables. */
	public function columns(): Columns {
		return $this->columns;
	}

	/** Makes a function of the layer available to SQLite, for statements that are not rewritten. */
	public function register_function( string $name ): void {
		$this->functions->register( $name );
	}

	/**
	 * Returns rows as the result of a statement.
	 *
	 * @param string[]  $columns Column names.
	 * @param mixed[][] $rows    Lists of values, in the order of the columns.
	 */
	public function result( array $columns, array $rows, string $query ): \PDOStatement {
		$pdo    = $this->get_sqlite_pdo();
		$quote  = static fn ( $value ) => null === $value ? 'NULL' : $pdo->quote( (string) $value );
		$select = static fn ( array $values ) => 'SELECT ' . implode( ', ', array_map(
			static fn ( $value, string $column ) => $quote( $value ) . ' AS `' . str_replace( '`', '``', $column ) . '`',
			$values,
			$columns
		) );
		$sql    = [] === $rows
			? $select( array_fill( 0, count( $columns ), null ) ) . ' WHERE 0'
			: implode( ' UNION ALL ', array_map( $select, $rows ) );
		return $this->wrap( $this->execute_sqlite_query( $sql ), $query, 0 );
	}

	/** Returns a statement of SQLite as a result of MySQL. */
	public function wrap( \PDOStatement $statement, string $query, ?int $affected_rows = null ): \PDOStatement {
		$meta = static fn ( int $column ) => $statement->getColumnMeta( $column );
		return new \WP_MySQL_On_SQLite_Statement( $statement, $query, $meta, $affected_rows );
	}
}
