#ifndef FEEDSTREAM_COPENSSL_H
#define FEEDSTREAM_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

// `SHA1` looks its algorithm up among the providers each time, which takes longer than hashing a short text, and a
// millisecond at the first time. These functions, which OpenSSL 3 would like to be rid of, do not.
static inline void copenssl_sha1(const unsigned char *message, size_t count, unsigned char *digest) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  SHA_CTX state;
  SHA1_Init(&state);
  SHA1_Update(&state, message, count);
  SHA1_Final(digest, &state);
#pragma GCC diagnostic pop
}

// OpenSSL macros as functions, since Swift doesn't import macros with parameters.

static inline int copenssl_min_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void copenssl_refuse_old_ways(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline void copenssl_give_no_tickets(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

static inline void copenssl_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

static inline void copenssl_cache_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline int copenssl_add_chain(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int copenssl_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline void copenssl_bio_wants_read(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}

static inline void copenssl_bio_succeeded(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline int copenssl_reason(unsigned long error) { return ERR_GET_REASON(error); }

/// The text of a system error, such as a missing file; null for OpenSSL's own errors.
static inline const char *copenssl_system_text(unsigned long error) {
  return ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : NULL;
}

static inline int copenssl_is_ssl(unsigned long error) { return ERR_GET_LIB(error) == ERR_LIB_SSL; }

// Refuses to provide a password, so an encrypted key can't be read.
static inline int copenssl_no_password(char *buffer, int size, int writing, void *user) {
  (void)buffer, (void)size, (void)writing, (void)user;
  return -1;
}

static inline EVP_PKEY *copenssl_read_key(BIO *bio) {
  return PEM_read_bio_PrivateKey(bio, NULL, copenssl_no_password, NULL);
}

static inline X509 *copenssl_read_certificate(BIO *bio) {
  return PEM_read_bio_X509(bio, NULL, copenssl_no_password, NULL);
}

/// True if reading stopped at the end of the PEM text.
static inline int copenssl_was_end_of_pem(void) {
  unsigned long error = ERR_peek_last_error();
  return error == 0 || (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
}

/// Writes the subject or the issuer of a certificate as text, and returns its length.
static inline size_t copenssl_subject(const X509 *certificate, int issuer, char *text, size_t size) {
  BIO *memory = BIO_new(BIO_s_mem());
  X509_NAME *name = issuer ? X509_get_issuer_name(certificate) : X509_get_subject_name(certificate);
  int count = 0;
  if (memory && name && X509_NAME_print_ex(memory, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0)
    count = BIO_read(memory, text, (int)size);
  BIO_free(memory);
  return count > 0 ? (size_t)count : 0;
}

/// Writes the names and addresses that a certificate is valid for, each followed by a line feed, and returns their
/// length. Names that can't be host names, and those that don't fit, are left out.
static inline size_t copenssl_names(const X509 *certificate, char *text, size_t size) {
  GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  size_t used = 0;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    char address[64];
    const char *found = NULL;
    size_t count = 0;
    if (name->type == GEN_DNS) {
      found = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
      count = (size_t)ASN1_STRING_length(name->d.dNSName);
      // The string may contain any byte, even a line feed; a host name consists of visible characters.
      for (size_t at = 0; found && at < count; at++)
        if (found[at] < 0x21 || found[at] > 0x7E) found = NULL;
    } else if (name->type == GEN_IPADD) {
      const unsigned char *bytes = ASN1_STRING_get0_data(name->d.iPAddress);
      int length = ASN1_STRING_length(name->d.iPAddress);
      found = address;
      if (length == 4) {
        count = (size_t)snprintf(address, sizeof address, "%d.%d.%d.%d", bytes[0], bytes[1], bytes[2], bytes[3]);
      } else if (length == 16) {
        for (int group = 0; group < 8; group++)
          count += (size_t)snprintf(
            address + count, sizeof address - count, group ? ":%x" : "%x", bytes[2 * group] << 8 | bytes[2 * group + 1]);
      }
    }
    if (!found || count == 0 || used + count + 1 > size) continue;
    memcpy(text + used, found, count);
    used += count;
    text[used++] = '\n';
  }
  GENERAL_NAMES_free(names);
  return used;
}

#endif
