<?php
namespace WP_MySQL_Layer;

/** The session's own variables. */
final class Variable_Functions extends Function_Set {
	public const VOLATILE  = [ 'mysql_variable', 'mysql_assign' ];
	public const WITH_NULL = self::VOLATILE;

	/** @var array<string, mixed> Values by name in lower case. */
	private array $values = [];

	public function mysql_variable( $name ) {
		return $this->values[ $name ] ?? null;
	}

	public function mysql_assign( $name, $value ) {
		$this->values[ $name ] = $value;
		return $value;
	}
}
