<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** The columns that the values of INSERT and REPLACE are for. */
final class Assigned_Columns {
	/** Returns the names of the columns in lower case, or null if the statement does not name them. @return string[]|null */
	public static function names( WP_Parser_Node $constructor ): ?array {
		$fields = $constructor->get_first_child_node( 'fields' );
		return null === $fields ? null : array_map( [ self::class, 'name_of' ], $fields->get_child_nodes() );
	}

	/** Returns the columns of a statement's table by name, in lower case. @return array<string, Column> */
	public static function of_table( WP_Parser_Node $statement, Rewriting $rewriting ): array {
		$table = Scope::parts( $statement->get_first_child_node( 'tableRef' ) );
		return $rewriting->driver->columns()->of( end( $table ) );
	}

	/** Returns a column for each value of a row; null for those of unknown columns. @return array<Column|null> */
	public static function of( WP_Parser_Node $constructor, Rewriting $rewriting ): array {
		$columns = self::of_table( $rewriting->nearest( 'insertStatement', 'replaceStatement' ), $rewriting );
		$names   = self::names( $constructor );
		return null === $names ? array_values( $columns ) : array_map( static fn ( string $name ) => $columns[ $name ] ?? null, $names );
	}

	/** Returns the values of a row by position, without those that are DEFAULT. @return array<int, WP_Parser_Node> */
	public static function values( WP_Parser_Node $row ): array {
		$values   = [];
		$position = 0;
		foreach ( $row->get_children() as $child ) {
			if ( $child instanceof WP_Parser_Node ) {
				$values[ $position ] = $child;
			} elseif ( \WP_MySQL_Lexer::COMMA_SYMBOL === $child->id ) {
				++$position;
			}
		}
		return $values;
	}

	/** Returns the name of a column without those of its table and database, in lower case. */
	public static function name_of( WP_Parser_Node $column ): string {
		$parts = Scope::parts( $column );
		return strtolower( (string) end( $parts ) );
	}
}
