<?php
namespace WP_MySQL_Layer;

use PDOStatement;
use WP_Parser_Node;

/** Statements that SQLite has no counterpart for. They are refused with a sentence, so that the site's owner knows. */
final class Unsupported implements Statement {
	private const SUBJECTS = [
		'createEvent'     => 'events',
		'createFunction'  => 'stored functions',
		'createProcedure' => 'stored procedures',
		'createTrigger'   => 'triggers',
		'createUdf'       => 'loaded functions',
		'createUser'      => 'users of the database',
		'createView'      => 'views',
		'alterEvent'      => 'events',
		'alterView'       => 'views',
		'grant'           => 'privileges',
		'revoke'          => 'privileges',
	];
	private const STATEMENTS = [
		'callStatement' => 'stored procedures',
		'loadStatement' => 'reading files into tables',
	];

	public function answer( WP_Parser_Node $node, string $query, Driver $driver ): ?PDOStatement {
		$part    = $node->get_first_child_node();
		$subject = self::STATEMENTS[ $node->rule_name ] ?? ( null === $part ? null : self::SUBJECTS[ $part->rule_name ] ?? null );
		if ( null === $subject ) {
			return null;
		}
		throw Errors::unsupported( $driver, "This database has no $subject" );
	}
}
