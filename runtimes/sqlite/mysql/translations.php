<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * A cache of translated SELECT statements, in a file that later pages read. A page sends mostly the same statements each time it is
 * rendered, and parsing and translating a SELECT takes longer than executing it.
 *
 * A translation depends on the statement, on the tables and on the session's settings. So all of them are discarded when the
 * database's schema has changed, a session that defines tables or sets variables uses none from then on, and a statement whose translation
 * depends on more, such as `FOUND_ROWS()`, is not kept.
 */
final class Translations {
	/** Bytes of the longest statement that is kept, and of all statements and translations. */
	private const LONGEST = 8192;
	private const SPACE   = 131072;

	/** Words before an opening parenthesis in statements that may be kept: of the language, and functions of their arguments alone. */
	private const BEFORE_PARENTHESES = [
		...[ 'all', 'and', 'as', 'between', 'by', 'distinct', 'else', 'exists', 'from', 'having', 'in', 'index', 'join', 'like', 'not', 'on' ],
		...[ 'or', 'select', 'then', 'union', 'using', 'when', 'where', 'xor' ],
		...[ 'avg', 'cast', 'coalesce', 'concat', 'count', 'dayofmonth', 'if', 'ifnull', 'left', 'length', 'lower', 'max', 'min', 'month' ],
		...[ 'nullif', 'substring', 'sum', 'trim', 'upper', 'year', 'char', 'decimal' ],
	];
	/** Functions that need no parentheses. */
	private const BARE_FUNCTIONS = [
		...[ 'current_date', 'current_time', 'current_timestamp', 'current_user', 'localtime', 'localtimestamp', 'utc_date', 'utc_time' ],
		'utc_timestamp',
	];

	private Driver $driver;
	private string $file;
	/** The settings of the session. */
	private string $session;
	/** What this page's translations depend on, as a text. */
	private string $state;
	/** @var array<string, array{string, string[]}>|null What later pages may use: SQL and the layer's functions in it. Null: not read yet. */
	private ?array $kept = null;
	/** What this page has used. @var array<string, array{string, string[]}> */
	private array $used      = [];
	private bool $is_usable  = true;
	private bool $is_changed = false;

	/** `$session`: what translations depend on apart from the tables, as a text. */
	public function __construct( Driver $driver, string $file, string $session ) {
		$this->driver  = $driver;
		$this->file    = $file;
		$this->session = $session;
		// Before anything is read that translations depend on.
		$this->state = $this->state();
	}

	/** Stops using and adding translations for the rest of the session. Call before tables or the session's settings change. */
	public function forget(): void {
		$this->is_usable = false;
	}

	/** Returns the translation of a SELECT and the layer's functions in it, or null. @return array{string, string[]}|null */
	public function find( string $query ): ?array {
		if ( ! $this->is_usable ) {
			return null;
		}
		$this->kept ??= $this->read();
		$found        = $this->kept[ $query ] ?? null;
		if ( null !== $found ) {
			$this->used[ $query ] = $found;
		}
		return $found;
	}

	/**
	 * Keeps the translation of a SELECT, if later pages may use it.
	 *
	 * @param WP_MySQL_Token[] $tokens    The statement's tokens.
	 * @param string[]         $functions The layer's functions that the translation contains.
	 */
	public function add( string $query, array $tokens, string $sql, array $functions ): void {
		if ( ! $this->is_usable || strlen( $query ) > self::LONGEST || ! self::is_repeatable( $query, $tokens ) ) {
			return;
		}
		if ( ! $this->is_changed ) {
			$this->is_changed = true;
			register_shutdown_function( [ $this, 'write' ] );
		}
		$this->used[ $query ] = [ $sql, $functions ];
	}

	/** Whether a SELECT has the same translation as long as tables and settings stay the same. */
	private static function is_repeatable( string $query, array $tokens ): bool {
		if ( false !== stripos( $query, '_schema' ) ) {
			return false;
		}
		$previous = '';
		foreach ( $tokens as $token ) {
			if ( in_array( $token->id, [ WP_MySQL_Lexer::SQL_CALC_FOUND_ROWS_SYMBOL, WP_MySQL_Lexer::INTO_SYMBOL ], true ) ) {
				return false;
			}
			// Without quotes: a function's name may be in some.
			$text = strtolower( $token->get_value() );
			if ( in_array( $text, self::BARE_FUNCTIONS, true ) ) {
				return false;
			}
			$is_open = WP_MySQL_Lexer::OPEN_PAR_SYMBOL === $token->id;
			if ( $is_open && ctype_alpha( $previous[0] ?? '' ) && ! in_array( $previous, self::BEFORE_PARENTHESES, true ) ) {
				return false;
			}
			$previous = $text;
		}
		return true;
	}

	/** Returns a parser's tree of a SELECT that has been translated. */
	public static function tree( string $sql ): WP_Parser_Node {
		$select = new WP_Parser_Node( 0, 'selectStatement' );
		$select->append_child( new Fragment( $sql, 0, 0 ) );
		$statement = new WP_Parser_Node( 0, 'simpleStatement' );
		$statement->append_child( $select );
		$query = new WP_Parser_Node( 0, 'query' );
		$query->append_child( $statement );
		return $query;
	}

	private function read(): array {
		$content = is_file( $this->file ) ? file_get_contents( $this->file ) : '';
		// A damaged file, such as one that was too large for the memory, is as good as none.
		$stored = @unserialize( $content, [ 'allowed_classes' => false ] );
		return ( $stored['state'] ?? null ) === $this->state ? $stored['translations'] : [];
	}

	/** Stores what this page has used, and of older translations as many as there is space for. */
	public function write(): void {
		$space        = self::SPACE;
		$translations = [];
		foreach ( $this->used + ( $this->kept ?? [] ) as $query => $translation ) {
			$space -= strlen( $query ) + strlen( $translation[0] );
			if ( $space < 0 ) {
				break;
			}
			$translations[ $query ] = $translation;
		}
		file_put_contents( $this->file, serialize( [ 'state' => $this->state, 'translations' => $translations ] ) );
	}

	/** What the translations depend on: SQLite counts the changes of a database's schema. Another database is another file. */
	private function state(): string {
		$pdo  = $this->driver->get_sqlite_pdo();
		$file = $pdo->query( 'PRAGMA database_list' )->fetchColumn( 2 );
		return implode( ' ', [ $pdo->query( 'PRAGMA schema_version' )->fetchColumn(), $file, fileinode( $file ), $this->session ] );
	}
}
