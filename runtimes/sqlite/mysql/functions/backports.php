<?php
namespace WP_MySQL_Layer;

/** Functions of newer versions of SQLite that the layer uses, for older ones. */
final class Backport_Functions extends Function_Set {
	public const ARGUMENTS = [ 'octet_length' => 1 ];
	public const WITH_NULL = [ 'concat_ws' ];

	public function octet_length( $value ): int {
		return strlen( (string) $value );
	}

	public function concat_ws( $separator, ...$texts ): ?string {
		return null === $separator ? null : implode( $separator, array_filter( $texts, static fn ( $text ) => null !== $text ) );
	}
}
