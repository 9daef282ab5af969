<?php
namespace WP_MySQL_Layer;

use PDO;
use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** `PREPARE`, `EXECUTE` and `DEALLOCATE PREPARE`, which some dumps use. */
final class Prepare implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		if ( 'preparedStatement' !== $node->rule_name ) {
			return null;
		}
		$name = strtolower( Schema::name_of( $node->get_first_descendant_node( 'identifier' ) ) );
		switch ( $node->get_first_descendant_token()->id ) {
			case WP_MySQL_Lexer::PREPARE_SYMBOL:
				$driver->prepared[ $name ] = $this->text( $node, $driver );
				return $driver->nothing( $query );
			case WP_MySQL_Lexer::EXECUTE_SYMBOL:
				return $driver->answer( $this->executed( $name, $node, $driver ) );
			default:
				unset( $driver->prepared[ $name ] );
				return $driver->nothing( $query );
		}
	}

	private function text( WP_Parser_Node $node, Driver $driver ): string {
		$variable = $node->get_first_child_node( 'userVariable' );
		return null === $variable
			? Schema::name_of( $node->get_first_child_node( 'textLiteral' ) )
			: (string) $driver->driver_query( 'SELECT ' . Schema::name_of( $variable ) )->fetchColumn();
	}

	private function executed( string $name, WP_Parser_Node $node, Driver $driver ): string {
		if ( ! isset( $driver->prepared[ $name ] ) ) {
			throw Errors::create( $driver, 1243, "Unknown prepared statement handler ($name) given to EXECUTE" );
		}
		$names  = array_map( [ Schema::class, 'name_of' ], $node->get_descendant_nodes( 'userVariable' ) );
		$values = [] === $names ? [] : $driver->driver_query( 'SELECT ' . implode( ', ', $names ) )->fetch( PDO::FETCH_NUM );
		return ( new Placeholders( $driver, $driver->prepared[ $name ] ) )->fill( $values );
	}
}
