<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** Results of `SHOW`: rows that `LIKE` and `WHERE` choose from. */
final class Listing {
	/**
	 * @param string[]  $columns Column names. `LIKE` compares the first one.
	 * @param mixed[][] $rows
	 */
	public static function answer(
		array $columns,
		array $rows,
		WP_Parser_Node $node,
		string $query,
		Driver $driver
	): PDOStatement {
		$condition = $node->get_first_child_node( 'likeOrWhere' );
		$like      = null === $condition ? null : $condition->get_first_child_node( 'likeClause' );
		if ( null === $condition || null !== $like ) {
			return $driver->result( $columns, self::matching( $rows, $like ), $query );
		}
		$where = substr( $query, $condition->get_start(), $condition->get_length() );
		return $driver->driver_query( 'SELECT * FROM (' . self::select( $columns, $rows ) . ") AS listing $where" );
	}

	/** Returns the rows as a SELECT in MySQL's language. */
	public static function select( array $columns, array $rows ): string {
		$values  = static fn ( array $row ) => array_map( [ self::class, 'literal' ], $row );
		$named   = static fn ( array $row ) => implode(
			', ',
			array_map(
				static fn ( string $value, string $column ) => "$value AS " . Schema::quoted( $column ),
				$values( $row ),
				$columns
			)
		);
		$selects = array_map( static fn ( array $row ) => 'SELECT ' . $named( $row ), $rows );
		return [] === $selects
			? 'SELECT ' . $named( array_fill( 0, count( $columns ), null ) ) . ' FROM DUAL WHERE 1 = 0'
			: implode( ' UNION ALL ', $selects );
	}

	private static function literal( $value ): string {
		if ( null === $value ) {
			return 'NULL';
		}
		return is_int( $value ) ? (string) $value : "'" . addcslashes( (string) $value, "\\'" ) . "'";
	}

	/** Returns the rows whose first value is like the pattern. */
	private static function matching( array $rows, ?WP_Parser_Node $like ): array {
		if ( null === $like ) {
			return $rows;
		}
		$pattern = Schema::name_of( $like->get_first_child_node( 'textStringLiteral' ) );
		$matches = static fn ( array $row ) => Letters::matches( (string) reset( $row ), $pattern, '\\' );
		return array_values( array_filter( $rows, $matches ) );
	}
}
