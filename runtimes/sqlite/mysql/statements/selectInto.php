<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use WP_Parser_Node;

/** `SELECT ... INTO @a, @b`: a row for the session's variables. */
final class Select_Into implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$into      = $node->get_first_descendant_node( 'intoClause' );
		$variables = null === $into ? [] : $into->get_child_nodes( 'userVariable' );
		if ( [] === $variables ) {
			return null;
		}
		$select = substr_replace( $query, ' ', $into->get_start(), $into->get_length() );
		$rows   = $driver->driver_query( $select )->fetchAll( PDO::FETCH_NUM );
		if ( count( $rows ) > 1 ) {
			throw Errors::create( $driver, 1172, 'Result consisted of more than one row' );
		}
		foreach ( $rows[0] ?? [] as $i => $value ) {
			if ( ! isset( $variables[ $i ] ) ) {
				throw Errors::create( $driver, 1222, 'The used SELECT statements have a different number of columns' );
			}
			$name    = Schema::name_of( $variables[ $i ] );
			$literal = null === $value ? 'NULL' : ( is_int( $value ) ? (string) $value : $driver->quote( (string) $value ) );
			$driver->driver_query( "SELECT $name := $literal" )->fetchAll();
		}
		return $driver->nothing( $query, count( $rows ) );
	}
}
