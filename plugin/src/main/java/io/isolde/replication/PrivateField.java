// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.lang.reflect.Field;

/** What a class of Cassandra lets nobody see. */
public final class PrivateField {
  private final Field field;

  private PrivateField(Field field) {
    this.field = field;
  }

  /**
   * Finds one.
   *
   * @throws IllegalStateException if there is none of that name
   */
  public static PrivateField of(Class<?> owner, String name) {
    try {
      Field field = owner.getDeclaredField(name);
      field.setAccessible(true);
      return new PrivateField(field);
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  /** Puts another value into it, also if it is final. */
  public void set(Object of, Object value) {
    try {
      field.set(of, value);
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }

  /** Returns its value in an object. */
  public Object get(Object of) {
    try {
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }
}
