// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.SavedReplica;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Replicas as they are saved. */
final class StateBytes {
  private StateBytes() {}

  static byte[] of(OracleReplica replica) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      SavedReplica.of(replica).writeTo(new DataOutputStream(out));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  static OracleReplica read(byte[] state) {
    try {
      return SavedReplica.read(new DataInputStream(new ByteArrayInputStream(state)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
