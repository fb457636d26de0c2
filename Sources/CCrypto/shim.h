#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

// A builder of parameters keeps pointers to the names and values it is given until its parameters are made, so whole keys are made here.

static inline EVP_PKEY *strandline_key(const char *type, OSSL_PARAM_BLD *builder) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (!parameters || !context || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  ERR_clear_error();
  return key;
}

/// A public RSA key of its big-endian modulus and exponent; NULL where there is none.
static inline EVP_PKEY *strandline_rsa_key(const unsigned char *n, int n_length, const unsigned char *e, int e_length) {
  EVP_PKEY *key = NULL;
  BIGNUM *modulus = BN_bin2bn(n, n_length, NULL);
  BIGNUM *exponent = BN_bin2bn(e, e_length, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (modulus && exponent && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
    key = strandline_key("RSA", builder);
  OSSL_PARAM_BLD_free(builder);
  BN_free(modulus);
  BN_free(exponent);
  return key;
}

/// A public key on P-256 of its uncompressed point, 65 bytes; NULL for what is no point of the curve.
static inline EVP_PKEY *strandline_p256_key(const unsigned char *point) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (builder && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, 65) == 1)
    key = strandline_key("EC", builder);
  OSSL_PARAM_BLD_free(builder);
  return key;
}
