<?php
namespace WP_MySQL_Layer;

use WP_MySQL_Lexer as Lexer;
use WP_MySQL_Token;
use WP_Parser_Node;

/**
 * Gives columns with a binary collation, such as utf8mb4_bin, SQLite's: the driver creates all columns of texts without
 * regard to case, so that a unique key refuses texts that differ in case only.
 */
final class Binary_Columns {
	private Driver $driver;
	/** The statement that defines tables at present, or null. */
	private ?WP_Parser_Node $definition = null;

	public function __construct( Driver $driver ) {
		$this->driver = $driver;
	}

	/** Call with each statement before the driver executes it; null unless it begins with CREATE or ALTER. */
	public function begin( ?WP_Parser_Node $statement ): void {
		$this->definition = $statement;
	}

	/** Returns a statement for SQLite with the collations that the present statement of MySQL wants. */
	public function apply( string $sql ): string {
		if ( null === $this->definition || 0 !== strncmp( $sql, 'CREATE T', 8 ) ) {
			return $sql;
		}
		$columns = $this->binary_columns( $this->definition );
		return [] === $columns ? $sql : $this->replace( $sql, $columns );
	}

	/** @return array<string, bool> Whether a column is binary, by name in lower case. */
	private function binary_columns( WP_Parser_Node $statement ): array {
		$table    = $statement->get_first_descendant_node( 'createTable' );
		$default  = null;
		$existing = [];
		if ( null !== $table ) {
			foreach ( $statement->get_descendant_nodes( 'defaultCollation' ) as $option ) {
				$tokens  = $option->get_descendant_tokens();
				$default = end( $tokens )->get_value();
			}
		} else {
			$existing = $this->existing( $statement );
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
			$existing[ $name ] = $this->is_binary( $definition, $default );
		}
		return array_filter( $existing );
	}

	private function existing( WP_Parser_Node $statement ): array {
		$reference = $statement->get_first_descendant_node( 'tableRef' );
		if ( null === $reference ) {
			return [];
		}
		$parts   = Scope::parts( $reference );
		$columns = $this->driver->columns();
		$columns->forget();
		$binary = array_map( static fn ( Column $column ) => Columns::BINARY === $column->kind, $columns->of( end( $parts ) ) );
		$columns->forget();
		return $binary;
	}

	private function is_binary( WP_Parser_Node $definition, ?string $default ): bool {
		$collate = $definition->get_first_descendant_node( 'collate' );
		if ( null !== $collate ) {
			$tokens  = $collate->get_descendant_tokens();
			$default = end( $tokens )->get_value();
		} elseif ( null !== $definition->get_first_descendant_node( 'charsetWithOptBinary' )?->get_first_descendant_token( Lexer::BINARY_SYMBOL ) ) {
			return true;
		}
		return null !== $default && str_ends_with( strtolower( $default ), '_bin' );
	}

	/** Replaces the collation in the columns' definitions, which the driver writes as `name` TEXT COLLATE NOCASE. */
	private function replace( string $sql, array $columns ): string {
		$tokens = ( new Lexer( $sql, \WP_MySQL_On_SQLite::DEFAULT_MYSQL_VERSION, [ 'NO_BACKSLASH_ESCAPES' ] ) )->remaining_tokens();
		$result = '';
		$end    = 0;
		foreach ( $tokens as $i => $token ) {
			if ( ! $this->is_definition( $tokens, $i ) || ! isset( $columns[ strtolower( $token->get_value() ) ] ) ) {
				continue;
			}
			$collation = $tokens[ $i + 3 ];
			$result   .= substr( $sql, $end, $collation->start - $end ) . 'BINARY';
			$end       = $collation->start + $collation->length;
		}
		return $result . substr( $sql, $end );
	}

	/** @param WP_MySQL_Token[] $tokens */
	private function is_definition( array $tokens, int $i ): bool {
		return Lexer::BACK_TICK_QUOTED_ID === $tokens[ $i ]->id
			&& Lexer::TEXT_SYMBOL === ( $tokens[ $i + 1 ]->id ?? null )
			&& Lexer::COLLATE_SYMBOL === ( $tokens[ $i + 2 ]->id ?? null )
			&& isset( $tokens[ $i + 3 ] );
	}
}
