<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_MySQL_Lexer;
use WP_Parser_Node;

/** Transactions, savepoints and locks of tables. */
final class Transaction implements Statement {
	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$part = 'transactionOrLockingStatement' === $node->rule_name ? $node->get_first_child_node() : $node;
		if ( ! in_array( $part->rule_name, [ 'beginWork', 'transactionStatement', 'savepointStatement', 'lockStatement' ], true ) ) {
			return null;
		}
		$this->act( $part, $driver );
		return $driver->nothing( $query );
	}

	private function act( WP_Parser_Node $node, Driver $driver ): void {
		$transactions = $driver->transactions();
		$name         = $node->has_child_node( 'identifier' ) ? Schema::name_of( $node->get_first_child_node( 'identifier' ) ) : null;
		switch ( $node->get_first_descendant_token()->id ) {
			case WP_MySQL_Lexer::BEGIN_SYMBOL:
			case WP_MySQL_Lexer::START_SYMBOL:
				$transactions->begin( null !== $node->get_first_descendant_token( WP_MySQL_Lexer::SNAPSHOT_SYMBOL ) );
				return;
			case WP_MySQL_Lexer::COMMIT_SYMBOL:
				$transactions->commit();
				break;
			case WP_MySQL_Lexer::ROLLBACK_SYMBOL:
				null === $name ? $transactions->rollback() : $transactions->rollback_to( $name );
				break;
			case WP_MySQL_Lexer::SAVEPOINT_SYMBOL:
				$transactions->add_savepoint( $name );
				return;
			case WP_MySQL_Lexer::RELEASE_SYMBOL:
				$transactions->release( $name );
				return;
			case WP_MySQL_Lexer::LOCK_SYMBOL:
				foreach ( $node->get_child_nodes( 'lockItem' ) as $item ) {
					$driver->schema()->get( $item->get_first_child_node( 'tableRef' ) );
				}
				$transactions->lock();
				return;
			case WP_MySQL_Lexer::UNLOCK_SYMBOL:
				$transactions->unlock();
				return;
		}
		$chains = $node->has_child_token( WP_MySQL_Lexer::CHAIN_SYMBOL ) && ! $node->has_child_token( WP_MySQL_Lexer::NO_SYMBOL );
		if ( $chains ) {
			$transactions->begin();
		}
	}
}
