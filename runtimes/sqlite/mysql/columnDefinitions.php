<?php
namespace WP_MySQL_Layer;

use PDO;
use WP_MySQL_Lexer as Lexer;
use WP_MySQL_On_SQLite;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Completes the tables that the driver creates in SQLite, whenever it creates one. Columns with a binary collation, such as
 * utf8mb4_bin, get SQLite's, so that a unique key accepts texts that differ in case only. Generated columns, which the driver
 * takes for columns with a default, become such. Defaults of bytes become bytes: SQLite accepts no texts in these columns.
 */
final class Column_Definitions {
	private const COPY = 'INSERT INTO `' . WP_MySQL_On_SQLite::RESERVED_PREFIX . 'tmp_';

	private Driver $driver;
	/** The statement that defines tables at present, or null. */
	private ?WP_Parser_Node $definition = null;
	/** Columns that the present statement makes generated ones: STORED or VIRTUAL, by name in lower case. @var array<string, string> */
	public array $generated = [];

	/** Whether the last table that was created is a temporary one. */
	private bool $is_temporary = false;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/** Call with each statement before the driver executes it; null unless it begins with CREATE or ALTER. */
	public function begin( ?WP_Parser_Node $statement ): void {
		$this->definition = $statement;
	}

	/** Returns a statement for SQLite with what it should contain. */
	public function apply( string $sql ): string {
		if ( 0 === strncmp( $sql, 'CREATE T', 8 ) ) {
			return $this->completed( $sql );
		}
		return 0 === strncmp( $sql, self::COPY, strlen( self::COPY ) ) ? $this->copied( $sql ) : $sql;
	}

	/** @return WP_MySQL_Token[] */
	private static function tokens( string $sql ): array {
		return ( new Lexer( $sql, WP_MySQL_On_SQLite::DEFAULT_MYSQL_VERSION, [ 'NO_BACKSLASH_ESCAPES' ] ) )->remaining_tokens();
	}

	/**
	 * Returns what is recorded about the columns of the table that a statement of SQLite creates or fills, by name in lower case.
	 * A table that takes the place of another one has a name of its own.
	 */
	private function recorded( string $name, bool $is_temporary ): array {
		$prefix = WP_MySQL_On_SQLite::RESERVED_PREFIX . 'tmp_';
		$name   = str_starts_with( $name, $prefix ) ? substr( $name, strlen( $prefix ), -strlen( '_' . uniqid() ) ) : $name;
		$record = $this->driver->schema()->record( $is_temporary, 'columns' );
		$rows   = $this->driver->get_connection()->query( "SELECT lower(column_name), collation_name, extra FROM $record WHERE table_name = ?", [ $name ] );
		return array_column( $rows->fetchAll( PDO::FETCH_NUM ), null, 0 );
	}

	private function completed( string $sql ): string {
		$tokens       = self::tokens( $sql );
		// The rows that are copied into the table come next.
		$this->is_temporary = Lexer::TEMPORARY_SYMBOL === $tokens[1]->id;
		$name         = $tokens[ $this->is_temporary ? 3 : 2 ]->get_value();
		$recorded     = $this->recorded( $name, $this->is_temporary );
		$is_binary    = static fn ( array $row ) => Columns::knows_case( (string) $row[1] );
		$binary       = array_filter( ( null === $this->definition ? [] : $this->defined( $this->definition ) ) + array_map( $is_binary, $recorded ) );
		$generated    = $this->generated + array_filter( array_map( static fn ( array $row ) => Generated_Columns::kind( $row[2] ), $recorded ) );
		$result       = '';
		$end          = 0;
		foreach ( $tokens as $i => $token ) {
			$column = Lexer::BACK_TICK_QUOTED_ID === $token->id ? strtolower( $token->get_value() ) : '';
			if ( isset( $binary[ $column ] ) && Lexer::TEXT_SYMBOL === $tokens[ $i + 1 ]->id && Lexer::COLLATE_SYMBOL === $tokens[ $i + 2 ]->id ) {
				$collation = $tokens[ $i + 3 ];
				$result   .= substr( $sql, $end, $collation->start - $end ) . 'BINARY';
				$end       = $collation->start + $collation->length;
			}
			$bytes = '' !== $column && Lexer::BLOB_SYMBOL === $tokens[ $i + 1 ]->id ? self::text_default_after( $tokens, $i + 1 ) : null;
			if ( null !== $bytes ) {
				$result .= substr( $sql, $end, $bytes->start - $end ) . "x'" . bin2hex( self::bytes_of_default( $bytes->get_value() ) ) . "'";
				$end     = $bytes->start + $bytes->length;
			}
			$default = isset( $generated[ $column ] ) ? self::default_after( $tokens, $i ) : null;
			if ( null !== $default ) {
				[ $word, $last ] = $default;
				$result         .= substr( $sql, $end, $word->start - $end ) . 'GENERATED ALWAYS AS';
				$end             = $last->start + $last->length;
				$result         .= substr( $sql, $word->start + $word->length, $end - $word->start - $word->length ) . ' ' . $generated[ $column ];
			}
		}
		return $result . substr( $sql, $end );
	}

	/**
	 * The word DEFAULT of a column's definition, and the parenthesis at the end of its value; null if it has none.
	 *
	 * @param WP_MySQL_Token[] $tokens
	 * @return array{WP_MySQL_Token, WP_MySQL_Token}|null
	 */
	private static function default_after( array $tokens, int $i ): ?array {
		while ( ! in_array( $tokens[ ++$i ]->id, [ Lexer::DEFAULT_SYMBOL, Lexer::COMMA_SYMBOL, Lexer::CLOSE_PAR_SYMBOL, Lexer::OPEN_PAR_SYMBOL, Lexer::EOF ], true ) ) {
			continue;
		}
		$word = $tokens[ $i ];
		if ( Lexer::DEFAULT_SYMBOL !== $word->id || Lexer::OPEN_PAR_SYMBOL !== $tokens[ $i + 1 ]->id ) {
			return null;
		}
		$depth = 0;
		do {
			$id     = $tokens[ ++$i ]->id;
			$depth += Lexer::OPEN_PAR_SYMBOL === $id ? 1 : ( Lexer::CLOSE_PAR_SYMBOL === $id ? -1 : 0 );
		} while ( $depth > 0 );
		return [ $word, $tokens[ $i ] ];
	}

	/** The default of a column of bytes. The driver keeps `0x41` and `x'41'` as they were written. */
	public static function bytes_of_default( string $default ): string {
		if ( 1 !== preg_match( "/^(?:0x([0-9a-f]+)|x'([0-9a-f]*)')$/Di", $default, $found ) ) {
			return $default;
		}
		$digits = $found[2] ?? $found[1];
		return hex2bin( str_repeat( '0', strlen( $digits ) % 2 ) . $digits );
	}

	/** The text that is the default of a column, or null. @param WP_MySQL_Token[] $tokens */
	private static function text_default_after( array $tokens, int $i ): ?WP_MySQL_Token {
		while ( ! in_array( $tokens[ ++$i ]->id, [ Lexer::DEFAULT_SYMBOL, Lexer::COMMA_SYMBOL, Lexer::CLOSE_PAR_SYMBOL, Lexer::EOF ], true ) ) {
			continue;
		}
		$value = $tokens[ $i + 1 ] ?? null;
		return Lexer::DEFAULT_SYMBOL === $tokens[ $i ]->id && Lexer::SINGLE_QUOTED_TEXT === $value?->id ? $value : null;
	}

	/** Leaves generated columns out when the driver copies a table's rows: SQLite computes them again. */
	private function copied( string $sql ): string {
		$tokens    = self::tokens( $sql );
		$name      = $tokens[2]->get_value();
		$recorded  = $this->recorded( $name, $this->is_temporary );
		$generated = $this->generated + array_filter( array_map( static fn ( array $row ) => Generated_Columns::kind( $row[2] ), $recorded ) );
		if ( [] === $generated ) {
			return $sql;
		}
		$names   = array_values( array_filter( $tokens, static fn ( $token ) => Lexer::BACK_TICK_QUOTED_ID === $token->id ) );
		$columns = intdiv( count( $names ) - 2, 2 );
		$targets = array_filter( array_slice( $names, 1, $columns ), static fn ( $token ) => ! isset( $generated[ strtolower( $token->get_value() ) ] ) );
		$sources = array_intersect_key( array_slice( $names, 1 + $columns, $columns ), $targets );
		$listed  = static fn ( array $list ) => implode( ', ', array_map( static fn ( $token ) => $token->get_bytes(), $list ) );
		return "INSERT INTO {$names[0]->get_bytes()} ({$listed( $targets )}) SELECT {$listed( $sources )} FROM " . end( $names )->get_bytes();
	}

	/** @return array<string, bool> Whether a column that the statement defines is binary, by name in lower case. */
	private function defined( WP_Parser_Node $statement ): array {
		$default = null;
		$columns = [];
		if ( null !== $statement->get_first_descendant_node( 'createTable' ) ) {
			foreach ( $statement->get_descendant_nodes( 'defaultCollation' ) as $option ) {
				$tokens  = $option->get_descendant_tokens();
				$default = end( $tokens )->get_value();
			}
		}
		foreach ( $statement->get_descendant_nodes() as $node ) {
			$name       = null;
			$definition = $node->get_first_child_node( 'fieldDefinition' );
			if ( null === $definition ) {
				continue;
			}
			foreach ( $node->get_child_nodes() as $child ) {
				if ( $child === $definition ) {
					break;
				}
				$tokens = $child->get_descendant_tokens();
				$name   = strtolower( end( $tokens )->get_value() );
			}
			$columns[ $name ] = $this->is_binary( $definition, $default );
		}
		return $columns;
	}

	private function is_binary( WP_Parser_Node $definition, ?string $default ): bool {
		$collate = $definition->get_first_descendant_node( 'collate' );
		if ( null !== $collate ) {
			$tokens  = $collate->get_descendant_tokens();
			$default = end( $tokens )->get_value();
		} elseif ( null !== $definition->get_first_descendant_node( 'charsetWithOptBinary' )?->get_first_descendant_token( Lexer::BINARY_SYMBOL ) ) {
			return true;
		}
		return null !== $default && Columns::knows_case( strtolower( $default ) );
	}
}
