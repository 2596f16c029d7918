// SPDX-License-Identifier: Apache-2.0
/**
 * Connections of mail clients: how many there may be, the threads that work for them, TLS, and
 * protocols that consist of lines. Protocols themselves are Apache James' libraries.
 */
package io.isolde.mail.connection;
